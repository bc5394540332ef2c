#include "twill/solve/solve.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "twill/schedule/bounds.h"
#include "twill/solve/candidate.h"
#include "twill/solve/place.h"
#include "twill/solve/residual.h"
#include "twill/solve/search.h"
#include "twill/solve/solve_without.h"
#include "twill/solve/ties.h"
#include "twill/support/check.h"

namespace twill::solve {
namespace {

using problem::Problem;
using schedule::Answer;
using schedule::Bound;
using schedule::ObjectiveValue;
using schedule::Schedule;
using schedule::Verdict;

/// Search over all candidates in turn, the most promising first. The best schedule so far is a
/// limit for those that follow.
class Solver {
 public:
  Solver(const Problem& problem, const Options& options, const Exclusion& exclusion)
      : problem_(problem),
        options_(options),
        exclusion_(exclusion),
        budget_(options.work_limit, options.hurry_after, options.memory_limit,
                [this] { return report_and_ask(); }) {
    budget_.tell(options.tally);
  }

  Answer solve() {
    const Bound min_ii = schedule::min_ii(problem_);
    progress_.bound = min_ii.value;
    if (const auto why = schedule::never_feasible(problem_)) return infeasible(min_ii, *why);
    sub_tiles_ = find_sub_tiles(problem_);
    const Candidates candidates = candidates_of(problem_, sub_tiles_, options_.most_combinations);
    complete_ = candidates.all;
    single_ = candidates.tried.size() == 1 && candidates.all;
    std::size_t left = candidates.tried.size();
    for (const Candidate& candidate : candidates.tried) visit(candidate, left--);
    if (!candidates.all) bound_ = min_ii.value;
    return conclude(min_ii);
  }

 private:
  void visit(const Candidate& candidate, std::size_t candidates_left) {
    std::optional<Cycles> worst = options_.most_interval;
    if (best_) worst = best_->initiation_interval;
    if (worst && candidate.min_ii.value > *worst) {
      bound_ = std::min(bound_, candidate.min_ii.value);
      beyond_ = true;
      return;
    }
    if (budget_.stopped()) {
      bound_ = std::min(bound_, candidate.min_ii.value);
      open_ = true;
      return;
    }
    const auto report = [this](std::string_view level, std::optional<std::int64_t> value,
                               std::int64_t bound) {
      progress_.level = level;
      progress_.value = value;
      progress_.bound = bound;
    };
    Exclusion exclusion{excluded_in(candidate, sub_tiles_, exclusion_), exclusion_.least};
    if (exclusion.least.empty()) exclusion.least = {options_.least_interval};
    ProofSink* proof = options_.room_for_staging ? nullptr : options_.proof;
    Search search(candidate, budget_, proof, report, std::move(exclusion),
                  options_.room_for_staging);
    if (options_.start) search.start_from(*options_.start);
    Interval interval = best_ ? better_one(search, candidates_left) : search.find_interval(worst);
    if (interval.impossible) {
      decisive_ = std::max(decisive_, interval.bound - 1);
      return;
    }
    bound_ = std::min(bound_, interval.bound);
    if (!interval.schedule) {
      if (!best_) (worst && interval.bound > *worst ? beyond_ : open_) = true;
      return;
    }
    Schedule& schedule = *interval.schedule;
    std::vector<ObjectiveValue> values;
    const Cycles ii = schedule.initiation_interval;
    values.push_back({"initiation_interval", ii, interval.bound, interval.bound == ii});
    for (ObjectiveValue& value : search.minimize_objectives(schedule)) {
      values.push_back(std::move(value));
    }
    const auto proven = [](const ObjectiveValue& level) { return level.proven; };
    if (!std::all_of(values.begin(), values.end(), proven)) open_ = true;
    const Instance instance = instance_of(candidate.problem);
    const ResidualInstance left(instance, schedule);
    const Schedule settled = settle_ties(left.instance(), left.in_residual(schedule));
    const auto placed = with_addresses(left.instance(), settled);
    TWILL_CHECK(placed.has_value(), "the offsets of a structure are good for all its schedules");
    best_ = with_alternatives(left.completed(*placed), candidate);
    values_ = std::move(values);
  }

  /// Values that a better schedule beats, level by level. In a hurry they end before an objective
  /// that was left open: of another combination it is no easier to decide.
  std::vector<std::int64_t> values_to_beat() const {
    std::vector<std::int64_t> values;
    const bool hurries = budget_.work() >= budget_.hurry_after();
    for (const ObjectiveValue& level : values_) {
      if (hurries && !values.empty() && !level.proven) break;
      values.push_back(level.value);
    }
    return values;
  }

  /// Finds a schedule that is better than the best so far, if the candidate has one. Most
  /// candidates have none, which is a cheaper question than their best schedule.
  Interval better_one(Search& search, std::size_t candidates_left) {
    auto below = search.decide_below(values_to_beat(), candidates_left);
    if (below.outcome == Outcome::stopped) open_ = true;
    if (!below.schedule) return {std::nullopt, below.bound, false};
    return search.lower_interval(*std::move(below.schedule), below.bound);
  }

  Answer infeasible(const Bound& min_ii, std::string why) const {
    Answer answer;
    answer.verdict = Verdict::infeasible;
    answer.lower_bound = min_ii;
    answer.argument = std::move(why);
    return counted(std::move(answer));
  }

  Answer counted(Answer answer) const {
    answer.work = budget_.work();
    answer.conflicts = budget_.conflicts();
    return answer;
  }

  Answer conclude(const Bound& min_ii) {
    const bool all_done = complete_ && !open_;
    if (all_done && !best_ && !beyond_) {
      return infeasible(min_ii,
                        fmt::format("an exhaustive search finds no schedule at an II of {}, "
                                    "and a loop that has one at any II has one there",
                                    decisive_));
    }
    Answer answer;
    answer.lower_bound = lower_bound(min_ii);
    if (!best_) {
      answer.argument = why_not_done();
      return counted(std::move(answer));
    }
    answer.verdict = all_done ? Verdict::optimal : Verdict::feasible;
    if (!all_done) answer.argument = why_not_done();
    answer.schedule = std::move(best_);
    answer.objectives = std::move(values_);
    if (!all_done) weaken(answer);
    return counted(std::move(answer));
  }

  std::string why_not_done() const {
    if (!open_ && !complete_) return "not all combinations of alternatives were tried";
    if (!open_) {
      return fmt::format("no schedule has an II of {} or less, and larger ones were not asked for",
                         *options_.most_interval);
    }
    if (budget_.stopped()) return fmt::format("{} ended the search", budget_.stopped_by());
    if (!best_)
      return "no schedule was found in the work of this search: a larger work limit goes on";
    return "a level that nothing moved for long was left open: a larger work limit goes on";
  }

  /// Keeps only the proven claims of an answer that is not known to be optimal. A level is about
  /// schedules with the values found for the levels before. The search of one combination proves
  /// nothing about the values of another.
  void weaken(Answer& answer) const {
    ObjectiveValue& interval = answer.objectives.front();
    interval.bound = std::min(answer.lower_bound.value, interval.value);
    interval.proven = interval.bound == interval.value;
    for (std::size_t i = 1; i < answer.objectives.size() && !single_; ++i) {
      answer.objectives[i].bound = 0;
      answer.objectives[i].proven = answer.objectives[i].value == 0;
    }
  }

  Bound lower_bound(const Bound& min_ii) const {
    if (bound_ <= min_ii.value || bound_ == kUnknown) return min_ii;
    Bound bound;
    bound.value = bound_;
    bound.kind = schedule::BoundKind::search;
    bound.witness =
        fmt::format("an exhaustive search finds no schedule at an II of {} or less", bound_ - 1);
    return bound;
  }

  bool report_and_ask() {
    progress_.work = budget_.work();
    if (options_.progress) options_.progress(progress_);
    return !options_.cancelled || !options_.cancelled();
  }

  static constexpr Cycles kUnknown = std::numeric_limits<Cycles>::max();

  const Problem& problem_;
  const Options& options_;
  const Exclusion& exclusion_;
  SubTiles sub_tiles_;
  Progress progress_{"initiation_interval", std::nullopt, 1, 0};
  Budget budget_;
  bool complete_ = true;     ///< all combinations of alternatives were candidates
  bool single_ = true;       ///< there is just one combination
  bool open_ = false;        ///< the search of a candidate ended early
  bool beyond_ = false;      ///< a candidate has no schedule with an II as small as wanted
  Cycles bound_ = kUnknown;  ///< least bound of the visited candidates
  Cycles decisive_ = 0;
  std::optional<Schedule> best_;
  std::vector<ObjectiveValue> values_;
};

}  // namespace

Options left_of(Options limits, std::uint64_t spent) {
  limits.work_limit -= std::min(limits.work_limit, spent);
  limits.hurry_after -= std::min(limits.hurry_after, spent);
  return limits;
}

Answer solve(const Problem& problem, const Options& options) {
  return Solver(problem, options, {}).solve();
}

Answer solve_without(const Problem& problem, const Exclusion& exclusion, const Options& options) {
  return Solver(problem, options, exclusion).solve();
}

}  // namespace twill::solve
