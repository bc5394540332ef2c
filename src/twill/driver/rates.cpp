#include "twill/driver/rates.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "twill/driver/answers.h"
#include "twill/driver/checking.h"
#include "twill/driver/timing.h"
#include "twill/driver/transfers.h"
#include "twill/problem/transfer.h"
#include "twill/schedule/bounds.h"
#include "twill/schedule/corun.h"
#include "twill/schedule/least_interval.h"
#include "twill/simulate/simulate.h"

namespace twill::driver {
namespace {

using machine::Rate;
using report::Candidate;
using schedule::Answer;

/// The earliest schedule at the order's least II that obeys all rules.
std::optional<schedule::Schedule> kept_schedule(const problem::Problem& problem,
                                                const schedule::Order& order) {
  auto timed = schedule::least_interval(problem, order);
  if (!timed || !violations_of(problem, timed->schedule).empty()) return std::nullopt;
  return std::move(timed->schedule);
}

/// A Problem without the ops that a schedule's groups do not need, and the schedule without these
/// ops.
class ResidualSchedule {
 public:
  ResidualSchedule(const schedule::Schedule& schedule, const problem::Problem& whole)
      : left_(problem::residual_of(whole, schedule::groups_of(schedule))),
        schedule_(schedule::in_residual(left_, schedule)) {}

  const problem::Problem& problem() const { return left_.problem; }
  const schedule::Schedule& schedule() const { return schedule_; }
  const problem::Residual& left() const { return left_; }

 private:
  problem::Residual left_;
  schedule::Schedule schedule_;
};

Cycles or_most(std::optional<Cycles> value) {
  return value.value_or(std::numeric_limits<Cycles>::max());
}

/// The least expected interval among schedules that obey all rules at the slowest rates, too.
Cycles least_expected(const std::vector<Candidate>& candidates) {
  Cycles least = or_most(std::nullopt);
  for (const Candidate& it : candidates) {
    if (it.slowest) least = std::min(least, or_most(it.expected));
  }
  return least;
}

double or_infinite(std::optional<double> value) {
  return value.value_or(std::numeric_limits<double>::infinity());
}

/// The least simulated interval; among schedules that obey all rules at the slowest rates, if there
/// are any.
double least_simulated(const std::vector<Candidate>& candidates) {
  double least = or_infinite(std::nullopt);
  for (const Candidate& it : candidates) {
    if (it.slowest) least = std::min(least, or_infinite(it.simulated));
  }
  return least;
}

/// Candidates that the simulator cannot tell from the fastest, each with a schedule that obeys its
/// rules at the slowest rates. Candidates without a plan count as such.
class Close {
 public:
  explicit Close(const std::vector<Candidate>& candidates)
      : most_(simulate::kError * least_simulated(candidates)) {}

  bool operator()(const Candidate& it) const {
    return it.slowest && (!it.simulated || *it.simulated <= most_);
  }

 private:
  double most_;  ///< largest interval that counts as equal to the fastest
};

/// Order of candidates: the least is best. Without a schedule that obeys the rules at the slowest
/// rates, the first is best.
///
/// The simulated interval decides, within the simulator's error. Candidates within that error are
/// compared by the co-run model, then by the least interval at the slowest rates, transfers
/// included. The co-run figure includes the simulated cost of late loads, unless the problem has
/// their latency. Equal candidates stay in their order, the fastest rate first (measured:
/// docs/hardware-log.md, "Candidates that the simulator cannot tell apart").
class Ranking {
 public:
  Ranking(const std::vector<Candidate>& candidates, std::optional<Rate> wanted)
      : wanted_(wanted), close_(candidates) {
    for (const Candidate& it : candidates) {
      if (close_(it)) expected_ = std::min(expected_, expected(it));
    }
  }

  auto operator()(const Candidate& it) const {
    const bool unwanted = wanted_ && it.rate != report::name_of(*wanted_);
    const bool expected_close = expected(it) <= schedule::kCoRunError * expected_;
    const Cycles slowest = it.slowest ? *it.slowest + it.transfer_work : or_most(std::nullopt);
    const bool tied = close_(it) && expected_close;
    return std::tuple(!it.interval, unwanted, !it.simulated, !close_(it), !expected_close,
                      tied ? slowest : 0, tied ? 0 : or_infinite(it.simulated));
  }

 private:
  static double expected(const Candidate& it) {
    return it.expected ? static_cast<double>(*it.expected + it.late_loads) : or_infinite({});
  }

  std::optional<Rate> wanted_;
  Close close_;
  /// The least expected interval among the close candidates.
  double expected_ = std::numeric_limits<double>::infinity();
};

/// Divisor of the work limit. A kernel is about ten problems: so the search hurries after this part
/// of one problem's limit. At the fastest rates, the search hurries after half of that.
constexpr std::uint64_t kHurry = 6;

/// Solves both rates of one kernel.
class Rates {
 public:
  Rates(const Request& request, PosedKernel fastest, PosedKernel slowest, Cycles waiting,
        bool loads_in_problem, const Judge& judge)
      : request_(request),
        fastest_(std::move(fastest)),
        slowest_(std::move(slowest)),
        waiting_(waiting),
        loads_in_problem_(loads_in_problem),
        judge_(judge),
        limits_(request.limits) {
    limits_.hurry_after /= kHurry;
  }

  Result<std::vector<ArrangedKernel>> solve() {
    TWILL_TRY_VOID(solve_fastest());
    const bool infeasible = fast_.answer.verdict == schedule::Verdict::infeasible;
    if (request_.rate != Rate::fastest && !infeasible) {
      TWILL_TRY_VOID(solve_slowest());
    }
    add_late_loads();
    std::vector<ArrangedKernel> out;
    for (const std::size_t i : best_first(candidates_, request_.rate)) out.push_back(keep(i));
    return out;
  }

 private:
  struct Slow {
    std::size_t pool;       ///< index into `slowest_`
    std::size_t candidate;  ///< index into `candidates_`
    Answer answer;
  };

  /// Adds a candidate and has it judged.
  Result<void> add(Rate rate, const PosedPool& pool, const Answer& answer) {
    Candidate out = candidate_at(rate, pool, answer, fastest_, slowest_, waiting_);
    ArrangedKernel arranged{BestRate(pool)};
    arranged.best.rate = rate;
    arranged.best.answer = answer;
    if (out.interval) arranged.best.bracket = bracket_of(fast_.answer.lower_bound, out);
    TWILL_TRY_VOID(judge_candidate(judge_, arranged, out));
    candidates_.push_back(std::move(out));
    trials_.push_back(std::move(arranged.best.trial));
    return {};
  }

  /// Simulates the cost of late loads, if the co-run model has to choose among several candidates.
  void add_late_loads() {
    if (loads_in_problem_) return;
    std::vector<std::size_t> equal;
    const Close close(candidates_);
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (close(candidates_[i])) equal.push_back(i);
    }
    if (equal.size() < 2) return;
    for (const std::size_t i : equal) {
      const std::optional<Trial>& trial = trials_[i];
      if (!trial || !trial->draft || !trial->full) continue;
      candidates_[i].late_loads =
          late_loads(trial->interval, signals_of(*trial->draft, *trial->full));
    }
  }

  Result<void> solve_fastest() {
    solve::Options limits = limits_;
    limits.work_limit /= 2;
    limits.hurry_after /= 2;
    fast_ = solve_pools(fastest_.pools, limits, request_.answers);
    return add(Rate::fastest, fastest_.pools[fast_.index], fast_.answer);
  }

  Result<void> solve_slowest() {
    std::uint64_t spent = fast_.work;
    std::uint64_t looked = fast_.looked;
    std::size_t pools_left = slowest_.pools.size();
    for (const std::size_t i : slow_order()) {
      const std::size_t left = pools_left--;
      const PosedPool& pool = slowest_.pools[i];
      if (cannot_win(pool.pool) || is_far_off(pool) || has_no_plan(pool, spent)) continue;
      solve::Options limits = solve::left_of(limits_, spent);
      limits.work_limit /= left;
      if (!slow_.empty()) limits = for_one_more(limits, looked);
      limits.start = slowed_down(pool);
      Answer answer = solve_with(request_.answers, pool.problem, limits);
      spent += answer.work;
      if (!slow_.empty()) looked += weight_of_look(answer);
      slow_.push_back({i, candidates_.size(), std::move(answer)});
      TWILL_TRY_VOID(add(Rate::slowest, pool, slow_.back().answer));
    }
    return {};
  }

  /// The order found at the fastest rates, if it belongs to this pool and has a schedule at the
  /// slowest.
  std::optional<schedule::Schedule> slowed_down(const PosedPool& slow) const {
    const PosedPool& fast = fastest_.pools[fast_.index];
    if (fast.pool != slow.pool || !fast_.answer.schedule) return std::nullopt;
    const ResidualSchedule there(*fast_.answer.schedule, fast.problem);
    const ResidualSchedule here(*fast_.answer.schedule, slow.problem);
    const auto kept =
        kept_schedule(here.problem(), schedule::order_of(there.problem(), there.schedule()));
    if (!kept) return std::nullopt;
    return schedule::completed(slow.problem, here.left(), *kept);
  }

  /// Interval that a candidate has to beat. Either another's simulated interval, by more than the
  /// model's error, or the expected interval of another's order.
  double to_beat() const {
    const double simulated = least_simulated(candidates_) / schedule::kCoRunError;
    const auto expected = static_cast<double>(least_expected(candidates_));
    return std::isfinite(simulated) ? std::max(simulated, expected) : expected;
  }

  /// Whether a pool cannot win, since it is no faster than another candidate, even with every op at
  /// its fastest.
  bool cannot_win(const std::string& name) {
    if (request_.rate) return false;
    const PosedPool* fast = pool_named(fastest_, name);
    if (fast == nullptr) return false;
    const schedule::Bound& bound =
        fast_.bounds[static_cast<std::size_t>(fast - fastest_.pools.data())];
    if (static_cast<double>(bound.value) < to_beat()) return false;
    rule_out(name,
             fmt::format("not faster: needs at least {} even with every op at its fastest ({})",
                         bound.value, report::limit_of(bound)));
    return true;
  }

  /// Whether the least II of a pool, known without search, is above that of another with a plan by
  /// more than simulations tell apart. No bound speaks of its plans, but its search finds few.
  bool is_far_off(const PosedPool& pool) {
    if (request_.rate) return false;
    Cycles best = or_most(std::nullopt);
    for (const Slow& it : slow_) {
      const Candidate& candidate = candidates_[it.candidate];
      if (candidate.simulated) best = std::min(best, or_most(candidate.interval));
    }
    const schedule::Bound bound = schedule::min_ii(pool.problem);
    const double most = simulate::kError * static_cast<double>(best);
    if (static_cast<double>(bound.value) <= most) return false;
    rule_out(pool.pool,
             fmt::format("not tried: needs at least {} at the slowest rates ({}), and another {}",
                         bound.value, report::limit_of(bound), best));
    return true;
  }

  /// Pools in the order in which they are tried. If some cannot be built, the best pool at the
  /// fastest rates comes first, so that no small pool uses up the work.
  std::vector<std::size_t> slow_order() const {
    std::vector<std::size_t> order(slowest_.pools.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (fast_.cramped.empty()) return order;
    std::stable_partition(order.begin(), order.end(), [&](std::size_t i) {
      return slowest_.pools[i].pool == fastest_.pools[fast_.index].pool;
    });
    return order;
  }

  /// Whether no schedule of a pool can be built. Checked only if this holds for some pool at the
  /// fastest rates.
  bool has_no_plan(const PosedPool& pool, std::uint64_t& spent) {
    if (request_.rate || fast_.cramped.empty()) return false;
    if (pool.pool == fastest_.pools[fast_.index].pool) return false;
    const bool known = stays_cramped(pool, fastest_.pools, fast_);
    if (!known && !is_cramped(pool.problem, limits_, spent)) return false;
    rule_out(pool.pool, kCramped);
    return true;
  }

  void rule_out(const std::string& pool, std::string why) {
    Candidate out;
    out.rate = report::name_of(Rate::slowest);
    out.pool = pool;
    out.note = std::move(why);
    ruled_out_.push_back(std::move(out));
  }

  std::vector<Candidate> candidates_with(std::size_t chosen) const {
    std::vector<Candidate> out = candidates_;
    out[chosen].chosen = out[chosen].interval.has_value();
    out.insert(out.end(), ruled_out_.begin(), ruled_out_.end());
    for (const report::PoolTried& pool : slowest_.left_out) {
      Candidate left_out;
      left_out.pool = pool.name;
      left_out.note = pool.result;
      out.push_back(std::move(left_out));
    }
    return out;
  }

  ArrangedKernel keep(std::size_t chosen) {
    const auto slow = std::find_if(slow_.begin(), slow_.end(),
                                   [&](const Slow& it) { return it.candidate == chosen; });
    BestRate out = slow == slow_.end() ? keep_fastest() : keep_slowest(*slow);
    const Candidate& candidate = candidates_[chosen];
    if (candidate.interval) out.bracket = bracket_of(fast_.answer.lower_bound, candidate);
    out.candidates = candidates_with(chosen);
    out.trial = trials_[chosen];
    return ArrangedKernel{std::move(out)};
  }

  BestRate keep_fastest() const {
    BestRate out(fastest_.pools[fast_.index]);
    out.rate = Rate::fastest;
    out.answer = fast_.answer;
    for (const PosedPool& it : fastest_.pools) out.pools.push_back(it.pool);
    out.warnings = fastest_.warnings;
    out.live_only = fastest_.live_only;
    return out;
  }

  BestRate keep_slowest(const Slow& slow) const {
    BestRate out(slowest_.pools[slow.pool]);
    out.rate = Rate::slowest;
    out.answer = slow.answer;
    out.pools = {out.pool.pool};
    out.warnings = slowest_.warnings;
    out.live_only = slowest_.live_only;
    return out;
  }

  const Request& request_;
  PosedKernel fastest_;
  PosedKernel slowest_;
  Cycles waiting_;         ///< synchronization cycles of a transfer
  bool loads_in_problem_;  ///< whether the co-run model knows the latency of loads
  const Judge& judge_;
  solve::Options limits_;
  BestPool fast_;
  std::vector<Slow> slow_;
  std::vector<Candidate> candidates_;
  std::vector<std::optional<Trial>> trials_;  ///< by arrangement
  std::vector<Candidate> ruled_out_;
};

}  // namespace

std::vector<std::size_t> best_first(const std::vector<Candidate>& candidates,
                                    std::optional<Rate> wanted) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].interval) order.push_back(i);
  }
  if (order.empty()) return {0};
  const Ranking rank(candidates, wanted);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return rank(candidates[a]) < rank(candidates[b]);
  });
  return order;
}

std::optional<Cycles> co_run_interval(const problem::Problem& fastest,
                                      const schedule::Order& order) {
  auto run = schedule::co_run(fastest, order, schedule::Turns::first_come);
  auto in_turns = schedule::co_run(fastest, order, schedule::Turns::enforced);
  if (in_turns && (!run || in_turns->interval < run->interval)) run = std::move(in_turns);
  if (!run) return std::nullopt;
  return static_cast<Cycles>(std::llround(run->interval));
}

Cycles waiting_of(const machine::Machine& machine) {
  return machine::transfer(machine, 4, Rate::fastest, 1).value_or(0);  // bytes
}

Cycles transfer_work(const problem::Problem& problem, const schedule::Schedule& schedule,
                     Cycles waiting) {
  std::map<std::pair<problem::OpId, schedule::GroupId>, Cycles> given;
  for (const problem::Dependence& it : problem.dependences()) {
    const schedule::GroupId to = schedule.ops[it.to.index()].group;
    if (!it.carries_value || to == schedule.ops[it.from.index()].group) continue;
    Cycles& cycles = given[{it.from, to}];
    cycles = std::max(cycles, it.transfer - waiting);
  }
  std::map<schedule::GroupId, Cycles> busy;
  Cycles most = 0;
  for (const auto& [crossing, cycles] : given) {
    const auto& [value, to] = crossing;
    for (const schedule::GroupId group : {schedule.ops[value.index()].group, to}) {
      most = std::max(most, (busy[group] += cycles) / 2);
    }
  }
  return most;
}

std::optional<Cycles> kept_interval(const problem::Problem& slowest, const schedule::Order& order) {
  const auto kept = kept_schedule(slowest, order);
  if (!kept) return std::nullopt;
  return kept->initiation_interval;
}

report::Candidate candidate_at(Rate rate, const PosedPool& pool, const Answer& answer,
                               const PosedKernel& fastest, const PosedKernel& slowest,
                               Cycles waiting) {
  Candidate out;
  out.rate = report::name_of(rate);
  out.pool = pool.pool;
  out.verdict = answer.verdict;
  if (!answer.schedule) {
    out.note = answer.argument;
    return out;
  }
  out.interval = answer.schedule->initiation_interval;
  const ResidualSchedule existing(*answer.schedule, pool.problem);
  const schedule::Order order = schedule::order_of(existing.problem(), existing.schedule());
  const PosedPool* fast = pool_named(fastest, pool.pool);
  const PosedPool* slow = pool_named(slowest, pool.pool);
  out.transfer_work =
      transfer_work(slow != nullptr ? slow->problem : pool.problem, *answer.schedule, 0);
  if (fast != nullptr) {
    out.expected =
        co_run_interval(ResidualSchedule(*answer.schedule, fast->problem).problem(), order);
    if (out.expected) *out.expected += transfer_work(fast->problem, *answer.schedule, waiting);
  }
  if (rate == Rate::slowest) {
    out.slowest = out.interval;
  } else if (slow != nullptr) {
    out.slowest = kept_interval(ResidualSchedule(*answer.schedule, slow->problem).problem(), order);
  }
  return out;
}

schedule::Bound least_bound(const PosedKernel& fastest) {
  std::vector<schedule::Bound> bounds;
  for (const PosedPool& pool : fastest.pools) bounds.push_back(schedule::min_ii(pool.problem));
  return *std::min_element(bounds.begin(), bounds.end(),
                           [](const auto& a, const auto& b) { return a.value < b.value; });
}

report::Bracket bracket_of(const schedule::Bound& fastest, const report::Candidate& chosen) {
  report::Bracket out;
  out.fastest = fastest.value;
  out.fastest_limit = report::limit_of(fastest);
  out.fastest_witness = fastest.witness;
  out.slowest = chosen.slowest;
  out.expected = chosen.expected;
  return out;
}

Result<void> judge_candidate(const Judge& judge, ArrangedKernel& arranged,
                             report::Candidate& candidate) {
  if (!candidate.interval) return {};
  TWILL_TRY(arranged.best.trial, judge(arranged));
  const std::optional<Trial>& trial = arranged.best.trial;
  if (!trial) return {};
  candidate.simulated = trial->interval;
  if (trial->refusal) candidate.refused = "plan: " + trial->refusal->message;
  return {};
}

Result<std::vector<ArrangedKernel>> solve_rates(const Kernel& kernel, const Request& request,
                                                const Judge& judge) {
  TWILL_TRY(PosedKernel fastest, pose_kernel(kernel, request, Rate::fastest));
  TWILL_TRY(PosedKernel slowest, pose_kernel(kernel, request, Rate::slowest));
  return Rates(request, std::move(fastest), std::move(slowest), waiting_of(kernel.machine),
               kernel.load_latency, judge)
      .solve();
}

}  // namespace twill::driver
