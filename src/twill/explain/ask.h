#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "twill/problem/ops.h"
#include "twill/schedule/schedule.h"
#include "twill/solve/decide.h"
#include "twill/solve/solve.h"

namespace twill::explain {

/// State of the explanation; passed to `Limits::progress` before each question.
struct Progress {
  std::string_view step;        ///< subject of the search: "the optimum", "what holds it", ...
  std::uint64_t questions = 0;  ///< answered so far
};

/// Limits and callbacks of one explanation.
struct Limits {
  /// Work units of all questions together, as in solve::Options. The default takes about two
  /// seconds.
  std::uint64_t work_limit = 120'000'000;
  std::function<void(const Progress&)> progress;
  std::function<bool()> cancelled;
};

/// Puts questions to the solver, counts its work, and keeps the schedules that it finds.
///
/// A kept schedule with the same groups, stages and order in the changed Problem may answer a
/// question without a search; such an answer is checked by simulation. A question may take only a
/// part of the work left for its step, so that hard questions leave some for the others. If too
/// little is left even to pose the question, the question stays undecided.
class Asker {
 public:
  explicit Asker(const Limits& limits) : limits_(limits), until_(limits.work_limit) {}

  /// Begins a step, which may take one of `parts` equal parts of the work that is left. Each
  /// question may take one of `parts_of_question` parts of the step's remaining work.
  void begin(std::string_view step, std::uint64_t parts, std::uint64_t parts_of_question);

  /// Keeps a schedule to answer questions with.
  void remember(const schedule::Schedule& schedule);

  /// Whether there is a schedule with an II of at most `ii`; with none given, at any II.
  solve::Decision decide(const problem::Problem& problem, std::optional<Cycles> ii);

  /// Finds a schedule with the structure of `known` in this Problem and an II of at most `ii`, if
  /// it obeys the rules. No search.
  std::optional<schedule::Schedule> followed(const problem::Problem& problem,
                                             const schedule::Schedule& known,
                                             std::optional<Cycles> ii);

  /// Finds the kept schedule with the least II in this Problem, if one obeys its rules. No search.
  std::optional<schedule::Schedule> best_kept(const problem::Problem& problem);

  /// Finds the least II, without objectives. The search starts from a kept schedule where one obeys
  /// this Problem.
  schedule::Answer least(const problem::Problem& problem);

  /// Finds the least II of a Problem that has the schedule `known`, and none with an II below
  /// `bound`.
  schedule::Answer least(const problem::Problem& problem, schedule::Schedule known, Cycles bound);

  std::uint64_t questions() const { return progress_.questions; }
  std::uint64_t work() const { return work_; }

 private:
  std::optional<schedule::Schedule> recalled(const problem::Problem& problem,
                                             std::optional<Cycles> ii);
  schedule::Answer solve_plain(const problem::Problem& problem, solve::Options options);
  bool may_ask(const problem::Problem& problem) const;
  solve::Options options(const problem::Problem& problem) const;
  void count(const problem::Problem& problem, std::uint64_t work);

  const Limits& limits_;
  Progress progress_;
  std::uint64_t work_ = 0;
  std::uint64_t until_;  ///< work at the end of the step
  std::uint64_t parts_of_question_ = 8;
  std::vector<schedule::Schedule> kept_;  ///< latest answer first
};

}  // namespace twill::explain
