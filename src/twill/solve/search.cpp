#include "twill/solve/search.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "twill/schedule/pool_class.h"
#include "twill/solve/greedy.h"
#include "twill/solve/place.h"
#include "twill/solve/recheck.h"
#include "twill/solve/residual.h"
#include "twill/solve/structure.h"
#include "twill/solve/ties.h"
#include "twill/solve/warm_start.h"
#include "twill/support/check.h"

namespace twill::solve {
namespace {

using problem::Objective;
using schedule::ObjectiveValue;
using schedule::Schedule;

constexpr std::string_view kInterval = "initiation_interval";

/// Copies counted per value at first; doubled whenever a schedule shows that it was not enough.
constexpr std::int64_t kFirstCopies = 32;

/// The first step upwards from an II without a schedule, as a part of it; later steps double.
constexpr Cycles kFirstStep = 16;

/// Conflicts that a question may cost at first. Questions near the optimum are by far the hardest,
/// so easier ones on both sides are asked first. The effort grows when only hard ones are left.
constexpr std::uint64_t kFirstEffort = 2000;
constexpr std::uint64_t kMoreEffort = 4;

/// Work without progress after which, in a hurry, a level is left as it is. It is about two
/// questions of the first effort, one on either side of the open range (decision 0003).
constexpr std::uint64_t kPatience = 10'000'000;

/// Loops with more ops begin with a schedule that is found without search. They hurry after a part
/// of the work that others may take, and at once when the II is done.
constexpr std::size_t kManyOps = 100;
constexpr std::uint64_t kSooner = 4;

/// The second of two questions about the II goes down by this part of the open range.
constexpr Cycles kPartDown = 4;

}  // namespace

Search::Search(const Candidate& candidate, Budget& budget, ProofSink* proof, Report report,
               Exclusion exclusion, bool room_for_staging)
    : candidate_(candidate),
      budget_(budget),
      proof_(proof),
      report_(std::move(report)),
      instance_(instance_of(candidate.problem, room_for_staging)),
      sub_tiles_(find_sub_tiles(candidate.problem)),
      exclusion_(std::move(exclusion)),
      copies_(kFirstCopies) {
  if (proof_ != nullptr) proof_->combination(candidate.alternatives);
}

void Search::start_from(Schedule start) {
  given_start_ = true;
  for (std::size_t op = 0; op < start.ops.size(); ++op) {
    if (std::exchange(start.ops[op].alternative, 0) != candidate_.alternatives[op]) return;
  }
  const ResidualInstance left(instance_, start);
  const Schedule residual = left.in_residual(start);
  if (!keeps_order(left.instance(), residual) || !fits_storage(left.instance(), residual)) return;
  const auto placed = with_addresses(left.instance(), residual);
  if (placed) start_ = left.completed(*placed);
}

Interval Search::find_interval(std::optional<Cycles> worst) {
  Interval interval;
  interval.bound = bound_without_search();
  report_(kInterval, std::nullopt, interval.bound);
  if (worst && interval.bound > *worst) return interval;
  // Skips the warm start: the next best is often no slower, transfer ops may be unneeded.
  if (!exclusion_.structures.empty() || !instance_.problem->transfers().empty()) {
    const Outcome outcome = try_interval(interval.bound, {kFirstEffort});
    if (outcome == Outcome::satisfied) interval.schedule = found_;
    if (outcome == Outcome::refuted) ++interval.bound;
    if (worst && interval.bound > *worst) return interval;
  }
  if (interval.schedule) return interval;
  if (worst && start_ && start_->initiation_interval <= *worst) {
    found_ = interval.schedule = start_;
  } else if (worst) {
    const Outcome outcome = try_interval(*worst, {kNoLimit, worth_until(budget_.work())});
    if (outcome == Outcome::satisfied) interval.schedule = found_;
    if (outcome == Outcome::refuted) interval.bound = *worst + 1;
  } else if ((interval.schedule = start_by_delays(candidate_, budget_))) {
    found_ = interval.schedule;
  } else if (find_in_turn(interval.bound)) {
    interval.schedule = found_;
  } else {
    find_start();
    interval = climb(interval);
  }
  if (interval.schedule) descend(interval);
  return interval;
}

Interval Search::lower_interval(Schedule schedule, Cycles bound) {
  Interval interval;
  interval.schedule = std::move(schedule);
  interval.bound = bound;
  descend(interval);
  return interval;
}

/// Finds a schedule to fall back on: of the rerolled loop, or without search. Excluded structures
/// are not searched for.
void Search::find_start() {
  if (!exclusion_.structures.empty()) return;
  auto start = start_unrolled(instance_, budget_);
  if (!start && !given_start_ && instance_.op_count() > kManyOps) {
    start = greedy_schedule(instance_);
  }
  if (!start || !fits_storage(instance_, *start)) return;
  if (start_ && start_->initiation_interval <= start->initiation_interval) return;
  start_ = std::move(start);
}

/// A lower bound on the II.
Cycles Search::bound_without_search() const {
  const Cycles known = exclusion_.least.empty() ? 1 : exclusion_.least.front();
  return std::max({candidate_.min_ii.value, load_bound(instance_), known});
}

/// Asks level by level: a better schedule is better at some level, with earlier levels at most at
/// their values.
Search::Found Search::decide_below(std::span<const std::int64_t> values, std::uint64_t parts) {
  const auto effort = [&] {
    return Effort{kNoLimit, std::min(share(parts), worth_until(budget_.work()))};
  };
  const Cycles ii = values.front();
  Found below{Outcome::refuted, std::nullopt, bound_without_search()};
  if (below.bound < ii) below.outcome = try_interval(ii - 1, effort());
  if (below.outcome == Outcome::refuted) below.bound = std::max(below.bound, ii);
  if (below.bound > ii) return below;
  const auto objectives = instance_.problem->objectives();
  for (std::size_t i = 1; i < values.size() && below.outcome == Outcome::refuted; ++i) {
    const Limit less = {objectives[i - 1], values[i] - 1};
    if (less.second >= least_known(less.first, ii)) {
      below.outcome = try_limit(ii, less, effort());
    }
    if (below.outcome == Outcome::satisfied) {  // and no better one in the levels before
      const auto proven = values.first(i);
      exclusion_.least.assign(proven.begin(), proven.end());
    }
    fix({less.first, values[i]});
  }
  if (below.outcome == Outcome::satisfied) below.schedule = found_;
  encoding_.reset();
  fixed_.clear();
  return below;
}

Outcome Search::refute(std::span<const ObjectiveValue> levels) {
  if (start_) found_ = start_;  // searches begin in its groups
  const Cycles ii = levels.front().value;
  const Cycles least = levels.front().bound;
  const Cycles known = bound_without_search();
  Outcome outcome = Outcome::refuted;
  if (known < least) outcome = try_interval(least - 1, {});
  if (std::max(known, least) > ii) return outcome;
  const auto objectives = instance_.problem->objectives();
  for (std::size_t i = 1; i < levels.size() && outcome == Outcome::refuted; ++i) {
    const Limit less = {objectives[i - 1], levels[i].bound - 1};
    if (less.second >= least_known(less.first, ii)) outcome = try_limit(ii, less, {});
    fix({less.first, levels[i].value});
  }
  encoding_.reset();
  fixed_.clear();
  return outcome;
}

Outcome Search::refute_all() {
  return try_interval(std::max(decisive_interval(instance_), bound_without_search()), {});
}

/// Asks at larger and larger IIs until one has a schedule or none can; leaves work to improve it.
Interval Search::climb(Interval interval) {
  const Cycles decisive = std::max(decisive_interval(instance_), interval.bound);
  Cycles step = std::max<Cycles>(1, interval.bound / kFirstStep);
  const std::uint64_t enough = budget_.work() + kPatience;
  const std::uint64_t most = std::max(budget_.work_limit(), kPatience) - kPatience;
  const std::uint64_t until = start_ ? kNoLimit : std::max(most, enough);
  for (Cycles ii = interval.bound;; step *= 2) {
    const bool beyond = start_ && (start_->initiation_interval <= ii || budget_.work() > enough);
    const Effort effort{ii == decisive ? kNoLimit : kFirstEffort, until};
    const Outcome outcome = beyond ? Outcome::stopped : try_interval(ii, effort);
    if (outcome == Outcome::satisfied) interval.schedule = found_;
    if (outcome == Outcome::refuted) interval.bound = ii + 1;
    if (start_ && outcome != Outcome::satisfied && (beyond || budget_.stopped())) {
      const ResidualInstance left(instance_, *start_);
      found_ = left.completed(earliest(left.instance(), left.in_residual(*start_), std::nullopt));
      interval.schedule = found_;
    }
    interval.impossible = outcome == Outcome::refuted && ii == decisive;
    if (interval.schedule || ii == decisive || !may_spend_more(until)) return interval;
    report_(kInterval, std::nullopt, interval.bound);
    ii = std::min(ii + step, decisive);
  }
}

/// Closes the gap between schedule and bound. Asks in turn right below the schedule, which is often
/// the best already, and a part of the gap further down. Clauses learned there help further down
/// only. Leaves half of the budget to the objectives.
void Search::descend(Interval& interval) {
  const std::uint64_t half = share(2);
  std::uint64_t progress = budget_.work();
  std::uint64_t conflicts = kFirstEffort;
  Cycles open = interval.bound;  // the least II not yet asked for with this effort
  for (bool lower = false;; lower = !lower) {
    const std::uint64_t until = std::min(half, worth_until(progress));
    if (!may_spend_more(until)) return;
    const Cycles best = interval.schedule->initiation_interval;
    report_(kInterval, best, interval.bound);
    if (interval.bound >= best) return;
    open = std::max(open, interval.bound);
    if (open >= best) {
      open = interval.bound;
      conflicts *= kMoreEffort;
    }
    const Cycles ii = lower ? best - 1 - (best - 1 - open) / kPartDown : best - 1;
    const Outcome outcome = try_interval(ii, {conflicts, until});
    if (outcome == Outcome::satisfied) interval.schedule = found_;
    if (outcome == Outcome::refuted) interval.bound = ii + 1;
    if (outcome == Outcome::stopped) open = ii + 1;
    if (outcome != Outcome::stopped) progress = budget_.work();
  }
}

bool Search::may_spend_more(std::uint64_t until) const {
  return !budget_.stopped() && budget_.work() < until;
}

/// Work up to which a step may go that shares the rest with others.
std::uint64_t Search::share(std::uint64_t parts) const {
  const std::uint64_t limit = std::max(budget_.work_limit(), budget_.work());
  return budget_.work() + (limit - budget_.work()) / parts;
}

/// Work up to which to continue a level, given the work at its last progress.
std::uint64_t Search::worth_until(std::uint64_t progress) const {
  const std::uint64_t part = instance_.op_count() > kManyOps ? kSooner : 1;
  return std::max(budget_.hurry_after() / part, progress + kPatience);
}

/// Looks for a schedule in which many sub-tiles take turns, so that only one has to be placed. Two
/// sub-tiles are placed quickly without that. A first guess takes no more than large loops may.
bool Search::find_in_turn(Cycles ii) {
  if (sub_tiles_.ops.size() < 3 || !exclusion_.structures.empty()) return false;
  Encoding encoding(instance_, sub_tiles_, ii, copies_, budget_.memory_limit(), nullptr, "",
                    placed_);
  if (encoding.complete()) encoding.keep_in_turn(sub_tiles_);
  if (!may_go_on(encoding)) return false;
  const std::uint64_t most = std::max(budget_.hurry_after() / kSooner, budget_.work() + kPatience);
  const Effort effort{kFirstEffort * kMoreEffort, std::min(share(2), most)};
  if (encoding.solve(kTrue, budget_, effort) != Outcome::satisfied) return false;
  return accept(encoding, std::nullopt);
}

/// Whether there is a schedule at `ii`; then `found_` has its structure and the least II for it.
Outcome Search::try_interval(Cycles ii, const Effort& effort) {
  while (true) {
    Encoding encoding(instance_, sub_tiles_, ii, copies_, budget_.memory_limit(), proof_,
                      "II " + std::to_string(ii), placed_);
    for (const Schedule& it : exclusion_.structures) encoding.rule_out(it);
    if (!may_go_on(encoding)) return Outcome::stopped;
    if (const auto& known = found_ ? found_ : unplaced_) encoding.suggest(*known);
    give_clauses(encoding, ii);
    const Outcome outcome = encoding.solve(kTrue, budget_, effort);
    keep_clauses(encoding, ii, outcome);
    if (outcome != Outcome::satisfied) return outcome;
    if (!accept(encoding, std::nullopt)) continue;
    TWILL_CHECK(found_->initiation_interval <= ii, "a structure fits the II it was taken from");
    return outcome;
  }
}

/// Gives the encoding the clauses learned at the nearest II above or equal.
void Search::give_clauses(Encoding& encoding, Cycles ii) const {
  const auto at = learned_.lower_bound(ii);
  if (at != learned_.end()) encoding.follow(at->second);
}

/// Drops learned clauses that no later question can use. The clauses of an II include those it was
/// given.
void Search::keep_clauses(Encoding& encoding, Cycles ii, Outcome outcome) {
  if (!may_keep_clauses()) return;
  if (outcome == Outcome::refuted) {
    learned_.erase(learned_.begin(), learned_.upper_bound(ii));
    return;
  }
  learned_.insert_or_assign(ii, encoding.clause_transfer());
  if (outcome == Outcome::satisfied) learned_.erase(learned_.upper_bound(ii), learned_.end());
}

/// Charges for the encoding; false if the budget does not allow its search.
bool Search::may_go_on(const Encoding& encoding) {
  if (!encoding.complete()) budget_.run_out_of_memory();
  budget_.spend(encoding.engine().clause_count());
  return budget_.allows(encoding.engine().memory()) && budget_.ask();
}

/// Takes the schedule of a model, as early as its structure allows at this II or the least for it.
/// Rejects a schedule with more live copies of a value than were counted, and one for which no
/// offsets are found.
bool Search::accept(const Encoding& encoding, std::optional<Cycles> ii) {
  const Schedule schedule = encoding.schedule();
  const ResidualInstance left(instance_, schedule);
  const Schedule residual = left.in_residual(schedule);
  TWILL_CHECK(keeps_order(left.instance(), residual), "the engine's model keeps the order rules");
  if (!fits_storage(left.instance(), residual)) {
    copies_ *= 2;
    return false;
  }
  const Schedule early = earliest(left.instance(), residual, ii);
  auto placed = with_addresses(left.instance(), early);
  if (!placed) placed = with_addresses(left.instance(), settle_ties(left.instance(), early));
  if (placed) {
    found_ = left.completed(*placed);
  } else if (placed_) {
    copies_ *= 2;
  } else {
    placed_ = true;
    unplaced_ = left.completed(early);
  }
  return placed.has_value();
}

/// The schedule of this structure at this II, or at the least for it, with every op as early as it
/// can be.
Schedule Search::earliest(const Instance& instance, const Schedule& schedule,
                          std::optional<Cycles> ii) {
  const std::vector<Inequality> structure = structure_of(instance, schedule);
  if (!ii) {
    ii = least_interval(structure, instance.op_count(), load_bound(instance));
    TWILL_CHECK(ii.has_value(), "a structure taken from a schedule has an II");
  }
  return tightened(schedule, structure, *ii);
}

std::vector<ObjectiveValue> Search::minimize_objectives(Schedule& schedule) {
  std::vector<ObjectiveValue> values;
  for (const Objective objective : instance_.problem->objectives()) {
    const std::size_t levels_left = instance_.problem->objectives().size() - values.size();
    values.push_back(minimize(objective, levels_left, schedule));
  }
  // An improvement of a later level may improve an earlier one.
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i].value = measure(instance_.problem->objectives()[i], schedule);
    values[i].proven = values[i].bound == values[i].value;
  }
  encoding_.reset();
  fixed_.clear();
  return values;
}

ObjectiveValue Search::minimize(Objective objective, std::size_t levels_left, Schedule& schedule) {
  const Cycles ii = schedule.initiation_interval;
  ObjectiveValue level;
  level.name = name_of(objective);
  level.value = measure(objective, schedule);
  level.bound = least_known(objective, ii);
  // Asks as for II, but at the middle of the range.
  const std::uint64_t part = share(levels_left);
  std::uint64_t progress = budget_.work();
  std::uint64_t conflicts = kFirstEffort;
  std::int64_t open = level.bound;
  for (bool half_way = false; level.bound < level.value; half_way = !half_way) {
    const bool large = instance_.op_count() > kManyOps;
    const std::uint64_t until =
        std::min(part, large ? progress + kPatience : worth_until(progress));
    if (!may_spend_more(until)) break;
    report_(level.name, level.value, level.bound);
    open = std::max(open, level.bound);
    if (open >= level.value) {
      open = level.bound;
      conflicts *= kMoreEffort;
    }
    const std::int64_t limit = half_way ? open + (level.value - 1 - open) / 2 : level.value - 1;
    const Outcome outcome = try_limit(ii, {objective, limit}, {conflicts, until});
    if (outcome != Outcome::stopped) progress = budget_.work();
    if (outcome == Outcome::refuted) level.bound = limit + 1;
    if (outcome == Outcome::stopped) open = limit + 1;
    if (outcome != Outcome::satisfied) continue;
    schedule = *found_;
    level.value = measure(objective, schedule);
  }
  level.proven = level.bound == level.value;
  fix({objective, level.value});
  return level;
}

/// Limits an objective in all later questions.
void Search::fix(Limit limit) {
  fixed_.push_back(limit);
  if (encoding_) encoding_->fix(literal_of(limit));
}

/// Whether there is a schedule at `ii` within the limit and all fixed ones; then it is in `found_`,
/// with every op as early as its structure allows.
Outcome Search::try_limit(Cycles ii, Limit limit, const Effort& effort) {
  while (true) {
    if (!encoding_) {
      encoding_ =
          std::make_unique<Encoding>(instance_, sub_tiles_, ii, copies_, budget_.memory_limit(),
                                     proof_, "objectives at II " + std::to_string(ii), placed_);
      give_clauses(*encoding_, ii);
      for (const Limit& done : fixed_) encoding_->fix(literal_of(done));
      for (const Schedule& it : exclusion_.structures) encoding_->rule_out(it);
    }
    const Literal within = literal_of(limit);
    if (!may_go_on(*encoding_)) return Outcome::stopped;
    const Outcome outcome = encoding_->solve(within, budget_, effort);
    if (outcome != Outcome::satisfied) return outcome;
    if (accept(*encoding_, ii)) return outcome;
    encoding_.reset();
  }
}

Literal Search::literal_of(Limit limit) {
  switch (limit.first) {
    case Objective::groups:
      return encoding_->groups_at_most(limit.second);
    case Objective::crossings:
      return encoding_->crossings_at_most(limit.second);
    case Objective::length:
      return encoding_->length_at_most(limit.second);
  }
  return kTrue;
}

std::int64_t Search::measure(Objective objective, const Schedule& schedule) const {
  std::set<std::pair<std::size_t, std::size_t>> crossings;  // value and receiving group
  std::set<std::size_t> groups;
  for (std::size_t op = 0; op < instance_.op_count(); ++op) {
    const std::size_t home = schedule.ops[op].group.index();
    groups.insert(home);
    for (const Read& read : instance_.reads[op]) {
      const std::size_t away = schedule.ops[read.reader].group.index();
      if (instance_.tasks[op].registers > 0 && away != home) crossings.emplace(op, away);
    }
  }
  switch (objective) {
    case Objective::groups:
      return static_cast<std::int64_t>(groups.size());
    case Objective::crossings:
      return static_cast<std::int64_t>(crossings.size());
    case Objective::length:
      return schedule::length_of(*instance_.problem, schedule);
  }
  return 0;
}

/// Lower bound on the level of `objective`, known without search.
std::int64_t Search::least_known(Objective objective, Cycles ii) const {
  const std::int64_t possible = least_possible(objective, ii);
  const std::vector<std::int64_t>& least = exclusion_.least;
  if (least.size() < fixed_.size() + 2 || ii != least[0]) return possible;
  for (std::size_t i = 0; i < fixed_.size(); ++i) {
    if (fixed_[i].second != least[i + 1]) return possible;
  }
  return std::max(possible, least[fixed_.size() + 1]);
}

/// A lower bound that needs no search.
std::int64_t Search::least_possible(Objective objective, Cycles ii) const {
  if (objective == Objective::crossings) return 0;
  if (objective == Objective::groups) {
    const auto classes = schedule::pool_classes(*instance_.problem);
    return std::count_if(classes.begin(), classes.end(),
                         [](const schedule::PoolClass& it) { return !it.ops.empty(); });
  }
  std::vector<Inequality> precedences;
  const auto always = [&](std::size_t op) { return instance_.tasks[op].always(); };
  for (const Precedence& it : instance_.precedences) {
    if (!always(it.from) || !always(it.to)) continue;
    precedences.push_back({it.from, it.to, it.delay, -it.distance});
  }
  const std::vector<Cycles> issue = earliest_issue(precedences, instance_.op_count(), ii);
  Cycles length = 0;
  for (std::size_t op = 0; op < issue.size(); ++op) {
    if (!always(op)) continue;
    length = std::max(length, issue[op] + instance_.tasks[op].span);
  }
  return length;
}

}  // namespace twill::solve
