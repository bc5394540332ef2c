#include "twill/solve/warm_start.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "twill/problem/transfer.h"
#include "twill/schedule/bounds.h"
#include "twill/solve/place.h"
#include "twill/solve/recheck.h"
#include "twill/solve/reroll.h"
#include "twill/solve/search.h"

namespace twill::solve {
namespace {

using problem::GroupId;
using problem::OpId;
using problem::Parts;
using problem::Problem;
using problem::Transfer;
using schedule::Schedule;

/// Shares of the remaining budget: for each of two searches for a loop with transfer ops, and for a
/// rerolled loop, whose schedule is better.
constexpr std::uint64_t kShare = 16;
constexpr std::uint64_t kRolledShare = 4;

/// Poses the Parts; empty where a sum of durations exceeds the limits of a Problem.
std::optional<Problem> posed(Parts parts) {
  Result<Problem> problem = problem::pose(std::move(parts));
  if (!problem) return std::nullopt;
  return *std::move(problem);
}

/// Makes the Problem with every transfer op as a delay, minimizing crossings.
std::optional<problem::Residual> with_delays(const Problem& problem) {
  problem::Residual part = problem::common_part(problem);
  Parts parts = part.problem.parts();
  for (const Transfer& it : problem.transfers()) {
    for (const Transfer::Load& load : it.loads) {
      for (problem::Dependence& direct : parts.dependences) {
        const bool same = direct.from == part.now(it.value) && direct.to == part.now(load.reader);
        if (!same || direct.transfer > 0) continue;
        direct.carries_value = true;
        direct.transfer = problem[it.store].alternatives.front().latency +
                          problem[load.op].alternatives.front().latency;
      }
    }
  }
  parts.objectives = {problem::Objective::crossings};
  std::optional<Problem> delayed = posed(std::move(parts));
  if (!delayed) return std::nullopt;
  return problem::Residual{*std::move(delayed), std::move(part.ops)};
}

/// Pins every op to its group in `groups`: each group gets a width of its own.
std::optional<Problem> pinned(const Problem& problem, const std::vector<GroupId>& groups) {
  Parts parts = problem.parts();
  for (std::size_t i = 0; i < parts.groups.size(); ++i) {
    parts.groups[i].warps = static_cast<int>(i) + 1;
  }
  for (std::size_t i = 0; i < parts.ops.size(); ++i) {
    parts.ops[i].warps = static_cast<int>(groups[i].index()) + 1;
  }
  std::erase(parts.relaxed, Rule::width);
  if (problem.in_force(Rule::load_group)) parts.relaxed.push_back(Rule::load_group);
  std::sort(parts.relaxed.begin(), parts.relaxed.end());
  parts.minimum_compute_groups = 0;
  parts.objectives.clear();
  return posed(std::move(parts));
}

/// Finds the best schedule that a part of the budget allows.
std::optional<Schedule> best_of(const Problem& problem, Budget& budget, std::uint64_t share) {
  if (schedule::never_feasible(problem)) return std::nullopt;
  const std::uint64_t left = budget.work_limit() - std::min(budget.work_limit(), budget.work());
  Budget own(left / share, budget.memory_limit(), [&] { return budget.ask(); });
  const Candidate candidate{std::vector<int>(problem.ops().size(), 0), problem,
                            schedule::min_ii(problem)};
  const auto no_report = [](std::string_view, std::optional<std::int64_t>, std::int64_t) {};
  Search search(candidate, own, nullptr, no_report);
  std::optional<Schedule> schedule = search.find_interval(std::nullopt).schedule;
  if (schedule) search.minimize_objectives(*schedule);
  budget.spend(own.work());
  return schedule;
}

}  // namespace

std::optional<Schedule> start_by_delays(const Candidate& candidate, Budget& budget) {
  const Problem& problem = candidate.problem;
  if (problem.transfers().empty()) return std::nullopt;
  const std::optional<problem::Residual> delays = with_delays(problem);
  if (!delays) return std::nullopt;
  const std::optional<Schedule> first = best_of(delays->problem, budget, kShare);
  if (!first) return std::nullopt;
  const Schedule whole = schedule::completed(problem, *delays, *first);
  const problem::Residual left = problem::residual_of(problem, schedule::groups_of(whole));
  const std::optional<Problem> rest =
      pinned(left.problem, schedule::groups_of(schedule::in_residual(left, whole)));
  if (!rest) return std::nullopt;
  const std::optional<Schedule> second = best_of(*rest, budget, kShare);
  if (!second) return std::nullopt;
  return schedule::completed(problem, left, *second);
}

std::optional<Schedule> start_unrolled(const Instance& instance, Budget& budget) {
  const std::optional<Rerolled> rerolled = reroll(*instance.problem);
  if (!rerolled) return std::nullopt;
  const auto one = best_of(rerolled->loop, budget, kRolledShare);
  if (!one) return std::nullopt;
  const Schedule all = unrolled(*rerolled, *one);
  if (!keeps_order(instance, all) || !fits_storage(instance, all)) return std::nullopt;
  return with_addresses(instance, all);
}

}  // namespace twill::solve
