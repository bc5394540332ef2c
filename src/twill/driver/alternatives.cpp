#include "twill/driver/alternatives.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "twill/driver/answers.h"
#include "twill/driver/candidates.h"
#include "twill/driver/checking.h"
#include "twill/driver/kernel.h"
#include "twill/driver/rates.h"
#include "twill/problem/transfer.h"
#include "twill/schedule/loop_text.h"
#include "twill/solve/alternatives.h"

namespace twill::driver {
namespace {

/// The Problem of the outcome's loop and pool at both cost bounds, where schedules must be judged
/// at both. Empty for a loop with its own costs only.
struct OtherRates {
  std::optional<problem::Problem> fastest;
  std::optional<problem::Problem> slowest;  ///< unless the outcome is about the slowest rate itself
  bool at_slowest = false;                  ///< whether the outcome is about the slowest rate
  Cycles waiting = 0;                       ///< synchronization cycles of a transfer
};

Result<OtherRates> other_rates(const Request& request, const Reading& reading,
                               const report::Outcome& outcome) {
  OtherRates rates;
  if (!outcome.bracket) return rates;
  Reading of_pool = reading;
  of_pool.kernel = with_pool(*reading.kernel, outcome.pool);
  rates.waiting = waiting_of(of_pool.kernel->machine);
  TWILL_TRY(PosedLoop fastest, pose_reading(request, of_pool, machine::Rate::fastest));
  rates.fastest = std::move(fastest.problem);
  rates.at_slowest = outcome.rate == report::name_of(machine::Rate::slowest);
  if (rates.at_slowest) return rates;
  auto slowest = pose_reading(request, of_pool, machine::Rate::slowest);
  if (slowest) rates.slowest = std::move(slowest->problem);
  return rates;
}

/// The order in the residual problem of the schedule's groups.
schedule::Order order_left(const problem::Problem& problem, const schedule::Schedule& schedule) {
  const problem::Residual left = problem::residual_of(problem, schedule::groups_of(schedule));
  return schedule::order_of(left.problem, schedule::in_residual(left, schedule));
}

/// Judges a schedule of the outcome's Problem: its expected interval, and whether it obeys the
/// rules.
Result<report::AlternativeSchedule> judged(const Input& input, solve::AlternativeSchedule found,
                                           const OtherRates& rates, report::Outcome& outcome) {
  report::AlternativeSchedule out;
  const schedule::Order order = order_left(outcome.problem, found.schedule);
  const auto groups = schedule::groups_of(found.schedule);
  if (rates.fastest) {
    out.expected = co_run_interval(problem::residual_of(*rates.fastest, groups).problem, order);
  }
  if (out.expected) *out.expected += transfer_work(*rates.fastest, found.schedule, rates.waiting);
  if (rates.slowest) {
    out.slowest = kept_interval(problem::residual_of(*rates.slowest, groups).problem, order);
  }
  if (rates.at_slowest) out.slowest = found.schedule.initiation_interval;
  out.differences =
      schedule::differences(outcome.problem, found.schedule, *outcome.answer.schedule);
  TWILL_TRY(const auto violations, violations_of_found(input, outcome.problem, found.schedule));
  for (const std::string& line : violations) {
    outcome.violations.push_back("an alternative: " + line);
  }
  out.schedule = std::move(found.schedule);
  out.objectives = std::move(found.objectives);
  out.proven = found.proven;
  return out;
}

/// `interval` plus `percent` of it, rounded down.
Cycles farthest(Cycles interval, int percent) {
  return interval + interval / 100 * percent + interval % 100 * percent / 100;
}

Result<report::AlternativeSchedules> find(const Request& request, const Reading& reading,
                                          report::Outcome& outcome, int count) {
  using End = report::AlternativeSchedules::End;
  TWILL_TRY(const OtherRates rates, other_rates(request, reading, outcome));
  report::AlternativeSchedules out;
  out.within = request.alternatives.within;
  out.most_interval = farthest(outcome.answer.schedule->initiation_interval, out.within);
  solve::Options limits = request.limits;
  limits.most_interval = out.most_interval;
  solve::AlternativeSchedules found =
      solve::alternatives(outcome.problem, outcome.answer, static_cast<std::size_t>(count), limits);
  for (solve::AlternativeSchedule& it : found.list) {
    TWILL_TRY(out.list.emplace_back(), judged(request.input, std::move(it), rates, outcome));
  }
  out.end = found.complete ? End::complete : found.stopped ? End::limit : End::count;
  return out;
}

/// Replaces the answer's schedule by an alternative; alternatives count from 1.
void take(report::AlternativeSchedule alternative, std::size_t number, report::Outcome& outcome) {
  outcome.alternative = static_cast<int>(number);
  outcome.differences = std::move(alternative.differences);
  outcome.answer.schedule = std::move(alternative.schedule);
  if (!is_as_good(outcome.answer, alternative.objectives)) {
    outcome.answer.verdict = schedule::Verdict::feasible;
    outcome.answer.objectives = std::move(alternative.objectives);
  }
  if (!outcome.bracket) return;
  outcome.bracket->expected = alternative.expected;
  outcome.bracket->slowest = alternative.slowest;
}

}  // namespace

Result<void> add_alternatives(const Request& request, const Reading& reading,
                              report::Outcome& outcome) {
  const AlternativeChoice& choice = request.alternatives;
  if (choice.list == 0 && choice.take == 0) return {};
  if (request.strategy.strategy != strategy::Strategy::twill) {
    return fail({request.input.name}, "alternatives are those of the optimum, and strategy '" +
                                          outcome.strategy + "' finds none");
  }
  if (!outcome.answer.schedule || !outcome.violations.empty()) return {};
  TWILL_TRY(report::AlternativeSchedules found,
            find(request, reading, outcome, std::max(choice.list, choice.take)));
  if (choice.take == 0) {
    outcome.alternatives = std::move(found);
    return {};
  }
  const std::size_t number = static_cast<std::size_t>(choice.take);
  if (found.list.size() < number) {
    return fail(
        {request.input.name},
        fmt::format("there is no alternative {}: {} found within {} % of II {}{}", number,
                    found.list.size(), choice.within, outcome.answer.schedule->initiation_interval,
                    found.end == report::AlternativeSchedules::End::limit
                        ? ", and then the work limit ended the search"
                        : ", and there are no more"));
  }
  take(std::move(found.list[number - 1]), number, outcome);
  return {};
}

Result<std::vector<report::Outcome>> equally_fast(const Request& request, const Reading& reading,
                                                  const report::Outcome& outcome, int count) {
  std::vector<report::Outcome> out;
  const bool whole = schedule::problem_hash(outcome.problem) == outcome.problem_hash;
  const bool has_some =
      request.strategy.strategy == strategy::Strategy::twill && whole && outcome.violations.empty();
  if (!has_some || !outcome.answer.schedule) return out;
  Request near = request;
  near.alternatives.within = 0;
  report::Outcome asked = outcome;
  TWILL_TRY(report::AlternativeSchedules found, find(near, reading, asked, count));
  for (std::size_t i = 0; i < found.list.size() && asked.violations.empty(); ++i) {
    take(std::move(found.list[i]), i + 1, out.emplace_back(outcome));
  }
  return out;
}

namespace {

/// The claim about schedules with room for transfers. Empty if `known` proves as much for all
/// schedules.
std::string claim_with_room(const schedule::Answer& found, const schedule::Answer& known) {
  if (found.verdict == schedule::Verdict::infeasible) {
    return "no schedule has room for its buffers and a copy of each value that it transfers, "
           "proven";
  }
  if (found.lower_bound.value <= known.lower_bound.value) return "";
  return fmt::format("among schedules with room for transfers, none has an II below {}, proven",
                     found.lower_bound.value);
}

}  // namespace

Result<BestOfNarrower> best_of_narrower(const Request& request, const Reading& reading,
                                        const report::Outcome& outcome,
                                        const problem::Problem& narrower) {
  schedule::Answer found = solve_with(request.answers, narrower, request.limits);
  BestOfNarrower best;
  if (request.limits.room_for_staging) best.claim = claim_with_room(found, outcome.answer);
  if (!found.schedule) return best;
  TWILL_TRY(const OtherRates rates, other_rates(request, reading, outcome));
  report::Outcome out = outcome;
  solve::AlternativeSchedule other{*std::move(found.schedule), std::move(found.objectives), false};
  TWILL_TRY(report::AlternativeSchedule taken, judged(request.input, std::move(other), rates, out));
  take(std::move(taken), 0, out);
  out.differences.clear();
  claim_of_other(outcome.answer, out.answer);
  if (!best.claim.empty()) out.notes.push_back(best.claim);
  best.outcome = std::move(out);
  return best;
}

}  // namespace twill::driver
