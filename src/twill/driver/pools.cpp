#include "twill/driver/pools.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "twill/driver/answers.h"
#include "twill/driver/transfers.h"
#include "twill/problem/compute_groups.h"
#include "twill/problem/problem.h"
#include "twill/schedule/analysis.h"
#include "twill/schedule/bounds.h"
#include "twill/solve/decide.h"

namespace twill::driver {
namespace {

using schedule::Answer;
using schedule::Verdict;

/// Knowledge about one pool. Without an answer: its own bound, or a better pool, ruled it out.
struct TriedPool {
  schedule::Bound bound;
  std::optional<Answer> answer;
  bool beaten = false;   ///< no schedule of the pool is better than the kept one
  bool dubious = false;  ///< the glance found no schedule that leaves half of the memory
};

bool has_schedule(const TriedPool& tried) { return tried.answer && tried.answer->schedule; }

Cycles interval_of(const Answer& answer) { return answer.schedule->initiation_interval; }

/// The most compute groups that any pool's problem requires. A problem requires no more than its
/// pool has, so a small pool must not win by its size.
int wanted_groups(const std::vector<PosedPool>& pools) {
  int wanted = 0;
  for (const PosedPool& pool : pools) {
    wanted = std::max(wanted, pool.problem.minimum_compute_groups());
  }
  return wanted;
}

int used_compute_groups(const problem::Problem& problem, const schedule::Schedule& schedule) {
  int count = 0;
  for (const problem::GroupId group : schedule::used_groups(problem, schedule)) {
    count += problem::is_compute_group(problem.parts(), problem[group]) ? 1 : 0;
  }
  return count;
}

/// Compute groups that are missing from the required number.
int missing(int wanted, int groups) { return std::max(wanted - groups, 0); }

/// Ranks a pool's answer by these numbers in order: the smallest rank is best.
std::vector<std::int64_t> rank_of(const PosedPool& pool, const Answer& answer, int wanted) {
  const int used = used_compute_groups(pool.problem, *answer.schedule);
  std::vector<std::int64_t> rank = {interval_of(answer), missing(wanted, used)};
  for (const schedule::ObjectiveValue& level : answer.objectives) rank.push_back(level.value);
  return rank;
}

/// Work for a first look at a pool, if there are several pools.
constexpr std::uint64_t kGlance = 1'000'000;

/// Work in a hurry for all pools after the first together, and the least work for each.
constexpr std::uint64_t kLastLooks = 20'000'000;
constexpr std::uint64_t kLeastLook = 4'000'000;

/// Share of the memory that transfers leave in pools that may well have a plan.
constexpr double kHalf = 0.5;

/// Part of the remaining work that may be spent on deciding whether a pool is worth solving.
constexpr std::uint64_t kComparison = 8;

/// Share of the remaining work that each pool gets; the last pool gets all.
std::uint64_t share(std::uint64_t left, std::size_t pools_left) {
  return pools_left == 1 ? left : left / 4 * 3;
}

/// A short search for the II alone.
Answer glance_at(const PosedPool& pool, const solve::Options& limits, Answers* answers,
                 std::uint64_t& spent) {
  problem::Parts parts = pool.problem.parts();
  parts.objectives.clear();
  const auto problem = problem::pose(std::move(parts));
  solve::Options few = solve::left_of(limits, spent);
  few.work_limit = std::min(kGlance, few.work_limit);
  Answer answer = solve_with(answers, problem ? *problem : pool.problem, few);
  spent += answer.work;
  return answer;
}

/// Order of the pools, the most promising first, so that later pools may be ruled out. Results
/// found meanwhile are kept in `tried`.
std::vector<std::size_t> by_promise(const std::vector<PosedPool>& pools,
                                    const solve::Options& limits, Answers* answers,
                                    std::vector<TriedPool>& tried, std::uint64_t& spent) {
  std::vector<std::size_t> order(pools.size());
  std::iota(order.begin(), order.end(), 0);
  if (pools.size() == 1) return order;
  std::vector<Cycles> promise;
  for (std::size_t i = 0; i < pools.size(); ++i) {
    Answer answer = glance_at(pools[i], limits, answers, spent);
    promise.push_back(answer.schedule ? interval_of(answer) : answer.lower_bound.value);
    const bool decided =
        answer.verdict == Verdict::optimal || answer.verdict == Verdict::infeasible;
    tried[i].dubious =
        !decided && !(answer.schedule && leave_share(pools[i].problem, *answer.schedule, kHalf));
    tried[i].bound = std::move(answer.lower_bound);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return promise[a] < promise[b]; });
  return order;
}

std::optional<std::size_t> best_of(const std::vector<PosedPool>& pools,
                                   const std::vector<TriedPool>& tried) {
  std::optional<std::size_t> best;
  std::vector<std::int64_t> least;
  const int wanted = wanted_groups(pools);
  for (std::size_t i = 0; i < tried.size(); ++i) {
    if (!has_schedule(tried[i])) continue;
    std::vector<std::int64_t> rank = rank_of(pools[i], *tried[i].answer, wanted);
    if (best && !(rank < least)) continue;
    best = i;
    least = std::move(rank);
  }
  return best;
}

/// Objective values that a schedule of pool `i` must beat lexicographically to replace the answer
/// of pool `best`. Empty if the comparison cannot be expressed by its objectives.
std::vector<std::int64_t> values_to_beat(const std::vector<PosedPool>& pools, std::size_t i,
                                         std::size_t best, const Answer& answer) {
  const int wanted = wanted_groups(pools);
  // A lower bound of the missing groups.
  const int here = missing(wanted, problem::compute_groups(pools[i].problem.parts()));
  const int there = missing(wanted, used_compute_groups(pools[best].problem, *answer.schedule));
  if (here < there) return {};
  if (here > there) return {interval_of(answer)};
  std::vector<std::int64_t> values;
  for (const schedule::ObjectiveValue& level : answer.objectives) values.push_back(level.value);
  if (i < best) ++values.back();  // of equal pools the first wins
  return values;
}

/// Whether no schedule of the pool is better than the best so far. This question is cheaper than
/// finding the pool's best schedule.
bool is_beaten(const std::vector<PosedPool>& pools, const std::vector<TriedPool>& tried,
               std::size_t i, const solve::Options& limits, std::uint64_t& spent) {
  const std::optional<std::size_t> best = best_of(pools, tried);
  if (!best) return false;
  // The pool may be better.
  if (tried[i].bound.value < interval_of(*tried[*best].answer)) return false;
  const auto values = values_to_beat(pools, i, *best, *tried[*best].answer);
  if (values.empty()) return false;
  solve::Options few = solve::left_of(limits, spent);
  few.work_limit /= kComparison;
  const solve::Decision decision = solve::decide_better(pools[i].problem, values, few);
  spent += decision.work;
  return decision.decided == solve::Decided::infeasible;
}

/// Tries one pool after the other.
class Trials {
 public:
  Trials(const std::vector<PosedPool>& pools, const solve::Options& limits, Answers* answers,
         std::uint64_t& spent)
      : pools_(pools), limits_(limits), answers_(answers), spent_(spent) {}

  /// Pools whose schedules cannot be built, while other pools have a schedule.
  const std::vector<std::size_t>& cramped() const { return cramped_; }
  std::uint64_t looked() const { return looked_; }

  std::vector<TriedPool> run() {
    for (const PosedPool& pool : pools_) tried_.push_back({schedule::min_ii(pool.problem), {}});
    std::size_t pools_left = pools_.size();
    for (const std::size_t i : by_promise(pools_, limits_, answers_, tried_, spent_)) {
      const std::size_t left = pools_left--;
      if (least_ && tried_[i].bound.value > *least_) continue;
      // Else the attempt is not worth its work.
      const bool all_so_far = left + cramped_.size() == pools_.size();
      const bool ask = all_so_far && tried_[i].dubious;
      if (ask && is_cramped(pools_[i].problem, limits_, spent_)) {
        cramped_.push_back(i);
      } else {
        try_pool(i, left);
      }
    }
    // Cramped pools have no plan. They are of use where there is no other schedule, and for its
    // proof.
    const bool alone = !least_;
    for (const std::size_t i : cramped_) {
      if (alone) try_pool(i, 1);
      if (!alone) tried_[i].beaten = is_beaten(pools_, tried_, i, limits_, spent_);
    }
    if (alone) cramped_.clear();
    return std::move(tried_);
  }

 private:
  /// Tries one pool. `left`: number of pools that share the remaining work.
  void try_pool(std::size_t i, std::size_t left) {
    tried_[i].beaten = is_beaten(pools_, tried_, i, limits_, spent_);
    if (tried_[i].beaten) return;
    solve::Options within = solve::left_of(limits_, spent_);
    within.work_limit = share(within.work_limit, left);
    if (least_) within = for_one_more(within, looked_);
    within.most_interval = least_;
    Answer answer = solve_with(answers_, pools_[i].problem, within);
    spent_ += answer.work;
    if (least_) looked_ += weight_of_look(answer);
    if (answer.lower_bound.value >= tried_[i].bound.value) tried_[i].bound = answer.lower_bound;
    if (answer.schedule) {
      least_ = std::min(least_.value_or(interval_of(answer)), interval_of(answer));
    }
    tried_[i].answer = std::move(answer);
  }

  const std::vector<PosedPool>& pools_;
  const solve::Options& limits_;
  Answers* answers_;
  std::uint64_t& spent_;
  std::vector<TriedPool> tried_;
  std::vector<std::size_t> cramped_;
  std::optional<Cycles> least_;  ///< least II so far
  std::uint64_t looked_ = 0;     ///< weight of looks at pools after the first with a schedule
};

/// The fate of a pool in words. `least`: the II that is kept, if there is one.
std::string result_of(const TriedPool& tried, std::optional<Cycles> least) {
  const bool infeasible = tried.answer && tried.answer->verdict == Verdict::infeasible;
  if (!infeasible && least && tried.bound.value > *least) {
    return fmt::format("not faster: needs at least {} ({})", tried.bound.value,
                       report::limit_of(tried.bound));
  }
  if (tried.beaten) return "not better";
  if (!tried.answer) return kCramped;
  const Answer& answer = *tried.answer;
  if (!answer.schedule) {
    return fmt::format("{}: {}", schedule::name_of(answer.verdict), answer.argument);
  }
  std::string text = fmt::format("II {}", interval_of(answer));
  for (const schedule::ObjectiveValue& level : answer.objectives) {
    if (level.name != "initiation_interval")
      text += fmt::format(", {} {}", level.name, level.value);
  }
  return answer.verdict == Verdict::optimal ? text : text + " (not proven best)";
}

/// Whether `other` certainly has no better schedule than the current answer.
bool holds_nothing_better(const TriedPool& other, const Answer& best) {
  if (other.beaten || other.bound.value > interval_of(best)) return true;
  if (!other.answer) return false;
  return other.answer->verdict == Verdict::optimal || other.answer->verdict == Verdict::infeasible;
}

bool is_infeasible(const TriedPool& tried) {
  return tried.answer && tried.answer->verdict == Verdict::infeasible;
}

/// The pool with the weakest lower bound, which holds for all pools. Infeasible pools count only if
/// all are infeasible.
std::size_t weakest(const std::vector<TriedPool>& tried, std::size_t chosen) {
  std::size_t at = chosen;
  for (std::size_t i = 0; i < tried.size(); ++i) {
    if (is_infeasible(tried[i])) continue;
    if (is_infeasible(tried[at]) || tried[i].bound.value < tried[at].bound.value) at = i;
  }
  return at;
}

/// Makes the claims of the chosen pool's answer hold over all pools.
void widen(Answer& answer, const std::vector<PosedPool>& pools, const std::vector<TriedPool>& tried,
           std::size_t chosen) {
  const std::size_t at = weakest(tried, chosen);
  if (at != chosen && tried[at].bound.value < answer.lower_bound.value) {
    answer.lower_bound = tried[at].bound;
    answer.lower_bound.ops.clear();  // these ops have the numbers of another problem
    answer.lower_bound.witness =
        fmt::format("pool {}: {}", pools[at].pool, tried[at].bound.witness);
  }
  if (answer.schedule) {
    const bool proven = std::all_of(tried.begin(), tried.end(), [&](const TriedPool& t) {
      return holds_nothing_better(t, answer);
    });
    if (!proven && answer.verdict == Verdict::optimal) answer.verdict = Verdict::feasible;
    return;
  }
  const bool infeasible = std::all_of(tried.begin(), tried.end(), is_infeasible);
  answer.verdict = infeasible ? Verdict::infeasible : Verdict::undecided;
  if (tried.size() == 1) return;
  answer.argument.clear();
  for (std::size_t i = 0; i < tried.size(); ++i) {
    if (i > 0) answer.argument += "; ";
    answer.argument += fmt::format("pool {}: {}", pools[i].pool, tried[i].answer->argument);
  }
}

}  // namespace

solve::Options for_one_more(solve::Options limits, std::uint64_t looked) {
  const std::uint64_t look = kLastLooks - std::min(looked, kLastLooks - kLeastLook);
  limits.work_limit = std::min(limits.work_limit, std::max(limits.hurry_after, look));
  return limits;
}

std::uint64_t weight_of_look(const Answer& answer) {
  return answer.schedule ? answer.work : 2 * answer.work;
}

bool stays_cramped(const PosedPool& pool, const std::vector<PosedPool>& before,
                   const BestPool& best) {
  return std::any_of(best.cramped.begin(), best.cramped.end(), [&](std::size_t i) {
    return before[i].pool == pool.pool && is_slowed_down(pool.problem, before[i].problem);
  });
}

BestPool solve_pools(const std::vector<PosedPool>& pools, const solve::Options& limits,
                     Answers* answers) {
  BestPool best;
  Trials trials(pools, limits, answers, best.work);
  const std::vector<TriedPool> tried = trials.run();
  best.cramped = trials.cramped();
  best.looked = trials.looked();
  std::optional<Cycles> least;
  best.index = best_of(pools, tried).value_or(0);
  best.answer = *tried[best.index].answer;
  widen(best.answer, pools, tried, best.index);
  if (best.answer.schedule) least = interval_of(best.answer);
  for (std::size_t i = 0; i < pools.size(); ++i) {
    std::string result = result_of(tried[i], least);
    if (i == best.index && best.answer.schedule) result += ", chosen";
    best.tried.push_back({pools[i].pool, std::move(result)});
    best.bounds.push_back(tried[i].bound);
  }
  return best;
}

}  // namespace twill::driver
