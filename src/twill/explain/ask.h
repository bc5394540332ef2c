#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "twill/problem/problem.h"
#include "twill/schedule/schedule.h"
#include "twill/solve/decide.h"
#include "twill/solve/solve.h"

namespace twill::explain {

/// Where the explanation stands; passed to `Limits::progress` before each question.
struct Progress {
  std::string_view step;        ///< what is being looked for: "the optimum", "what holds it", ...
  std::uint64_t questions = 0;  ///< answered so far
};

/// Limits and callbacks of one explanation.
struct Limits {
  /// Work units of all questions together, as in solve::Options. The default is in the order of
  /// half a minute.
  std::uint64_t work_limit = 2'000'000'000;
  std::function<void(const Progress&)> progress;
  std::function<bool()> cancelled;
};

/// Asks the solver, and keeps the account. A single question may take a part of the whole limit
/// only, so that one hard question does not leave the others without an answer.
class Asker {
 public:
  explicit Asker(const Limits& limits) : limits_(limits) {}

  void begin(std::string_view step) { progress_.step = step; }

  /// Whether there is a schedule with an II of at most `ii`; with none given, at any II at all.
  solve::Decision decide(const problem::Problem& problem, std::optional<Cycles> ii);

  /// The least II, of no interest if it exceeds `most`; the objectives are not looked at. May take
  /// a quarter of all work if nothing is known of it yet.
  schedule::Answer least(const problem::Problem& problem, std::optional<Cycles> most);

  std::uint64_t questions() const { return progress_.questions; }
  std::uint64_t work() const { return work_; }

 private:
  solve::Options options(std::uint64_t parts);
  void count(std::uint64_t work);

  const Limits& limits_;
  Progress progress_;
  std::uint64_t work_ = 0;
};

}  // namespace twill::explain
