#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "twill/schedule/schedule.h"
#include "twill/solve/budget.h"
#include "twill/solve/candidate.h"
#include "twill/solve/encode.h"
#include "twill/solve/exclusion.h"
#include "twill/solve/proof.h"

namespace twill::solve {

/// Called whenever the search of a level has a new value or bound.
using Report = std::function<void(std::string_view level, std::optional<std::int64_t> value,
                                  std::int64_t bound)>;

struct Interval {
  std::optional<schedule::Schedule> schedule;  ///< of the smallest II found
  Cycles bound = 1;                            ///< no schedule has a smaller II
  bool impossible = false;                     ///< no schedule at any II
};

/// The search for the best schedule of one candidate. Schedules have alternative 0 everywhere.
class Search {
 public:
  /// Everything must outlive the search. `proof` may be null, and is if structures are excluded.
  /// `exclusion` is the candidate's own (`excluded_in`).
  /// `room_for_staging` as in Options.
  Search(const Candidate& candidate, Budget& budget, ProofSink* proof, Report report,
         Exclusion exclusion = {}, bool room_for_staging = false);

  /// Sets a schedule of the original Problem to fall back on while none as good is found. No effect
  /// if it is of another candidate, or breaks a rule.
  void start_from(schedule::Schedule start);

  /// The least II; of interest only if it is at most `worst`.
  Interval find_interval(std::optional<Cycles> worst);

  struct Found {
    Outcome outcome = Outcome::stopped;
    std::optional<schedule::Schedule> schedule;
    Cycles bound = 1;  ///< no schedule has a smaller II
  };
  /// Whether there is a schedule whose II and objectives, in the order of the Problem, are
  /// lexicographically less than `values`. `values` starts with an II and may end early. A found
  /// schedule is such a one. Takes one of `parts` parts of the work that is left, and at least a
  /// try at each question.
  Found decide_below(std::span<const std::int64_t> values, std::uint64_t parts);
  /// Whether a schedule contradicts these levels, as `confirm` asks (confirm.h): refuted if none
  /// does. Ends with the first question that is not refuted.
  Outcome refute(std::span<const schedule::ObjectiveValue> levels);
  /// Whether there is a schedule at the decisive II: there is one there if there is one at any II.
  Outcome refute_all();
  /// Tries to refute the same with little work, counting one copy of each value: refuted, or else
  /// stopped.
  Outcome refute_all_roughly();
  /// The least II, from this schedule of the candidate on.
  Interval lower_interval(schedule::Schedule schedule, Cycles bound);

  /// Minimizes the objectives of the Problem in their order at the schedule's II, which should be
  /// the least; improves the schedule on the way. If the budget ends it, the rest is not proven.
  std::vector<schedule::ObjectiveValue> minimize_objectives(schedule::Schedule& schedule);

 private:
  using Limit = std::pair<problem::Objective, std::int64_t>;

  Cycles bound_without_search() const;
  void find_start();
  Interval climb(Interval interval);
  void descend(Interval& interval);
  Outcome try_interval(Cycles ii, const Effort& effort);
  bool find_in_turn(Cycles ii);
  void give_clauses(Encoding& encoding, Cycles ii) const;
  void keep_clauses(Encoding& encoding, Cycles ii, Outcome outcome);
  bool may_keep_clauses() const { return proof_ == nullptr && exclusion_.structures.empty(); }
  bool may_go_on(const Encoding& encoding);
  bool accept(const Encoding& encoding, std::optional<Cycles> ii);
  static schedule::Schedule earliest(const Instance& instance, const schedule::Schedule& schedule,
                                     std::optional<Cycles> ii);
  void fix(Limit limit);
  Outcome try_limit(Cycles ii, Limit limit, const Effort& effort);
  bool may_spend_more(std::uint64_t until) const;
  std::uint64_t share(std::uint64_t parts) const;
  std::uint64_t worth_until(std::uint64_t progress) const;
  Literal literal_of(Limit limit);
  std::int64_t measure(problem::Objective objective, const schedule::Schedule& schedule) const;
  std::int64_t least_known(problem::Objective objective, Cycles ii) const;
  std::int64_t least_possible(problem::Objective objective, Cycles ii) const;
  schedule::ObjectiveValue minimize(problem::Objective objective, std::size_t levels_left,
                                    schedule::Schedule& schedule);

  const Candidate& candidate_;
  Budget& budget_;
  ProofSink* proof_;
  Report report_;
  Instance instance_;
  SubTiles sub_tiles_;
  Exclusion exclusion_;                       ///< `least` grows by what is proven here
  std::map<Cycles, ClauseTransfer> learned_;  ///< by the II where they were learned
  std::int64_t copies_;                       ///< counted per value
  bool placed_ = false;                       ///< encodings speak of offsets: a schedule had none
  bool given_start_ = false;                  ///< of this candidate or another
  std::optional<schedule::Schedule> start_;
  std::optional<schedule::Schedule> found_;
  std::optional<schedule::Schedule> unplaced_;  ///< the one without; others begin in its groups
  std::unique_ptr<Encoding> encoding_;          ///< of the objectives
  std::vector<Limit> fixed_;                    ///< objectives done, at their values
};

}  // namespace twill::solve
