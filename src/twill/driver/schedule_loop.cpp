#include <optional>
#include <utility>

#include "twill/driver/alternatives.h"
#include "twill/driver/arranged.h"
#include "twill/driver/checking.h"
#include "twill/driver/driver.h"
#include "twill/driver/ends.h"
#include "twill/driver/given.h"
#include "twill/driver/input.h"
#include "twill/driver/kernel.h"
#include "twill/plan/json.h"
#include "twill/schedule/loop_text.h"
#include "twill/support/stopwatch.h"

namespace twill::driver {
namespace {

Result<void> check(const Input& input, report::Outcome& outcome) {
  if (!outcome.answer.schedule) return {};
  TWILL_TRY(outcome.violations,
            violations_of_found(input, outcome.problem, *outcome.answer.schedule));
  return {};
}

report::Outcome outcome_of(const Request& request, ArrangedProblem arranged) {
  report::Outcome outcome =
      described(request.input, std::move(arranged.problem), std::move(arranged.answer));
  outcome.strategy = strategy::name_of(request.strategy.strategy);
  outcome.ring_depth = arranged.ring_depth;
  outcome.regions = std::move(arranged.regions);
  outcome.order_circuit = std::move(arranged.circuit);
  outcome.notes = std::move(arranged.notes);
  return outcome;
}

/// Of JSON where a loop is wanted.
tl::unexpected<Diagnostic> no_loop(const Input& input) {
  if (plan::is_plan_json(input.text)) {
    return fail({input.name}, "it is a plan, not a loop",
                "`twill plan --check` proves it again, `twill simulate` runs it");
  }
  return fail({input.name}, "it is JSON: a schedule perhaps, but not a loop",
              "`twill verify` checks a schedule");
}

/// What cannot be asked of a problem with hand-offs.
Result<void> check_hand_offs(const Request& request, bool has_some) {
  if (!has_some) return {};
  if (request.strategy.strategy != strategy::Strategy::twill) {
    return fail({request.input.name},
                "only the strategy twill decides on hand-offs; '" +
                    std::string(name_of(request.strategy.strategy)) + "' takes them for a delay",
                request.hand_offs ? "leave --hand-offs out" : "take its hand-off lines out");
  }
  return {};
}

/// What stands in the input, with normalized costs.
Result<report::Outcome> schedule_normalized(const Request& request) {
  Stopwatch watch;
  TWILL_TRY(PosedLoop posed, pose_loop(request, machine::Rate::slowest));
  const double read = watch.lap();
  TWILL_TRY_VOID(check_hand_offs(request, !posed.problem.hand_offs().empty()));
  TWILL_TRY(ArrangedProblem arranged, arrange_problem(std::move(posed.problem), request));
  const double solve = watch.lap();
  report::Outcome outcome = outcome_of(request, std::move(arranged));
  outcome.notes.push_back(std::move(posed.warnings.back().message));  // what became of the costs
  posed.warnings.pop_back();
  outcome.warnings = std::move(posed.warnings);
  TWILL_TRY_VOID(check(request.input, outcome));
  outcome.timings = {read, solve, watch.lap()};
  return outcome;
}

Result<report::Outcome> schedule_hand_written(const Request& request) {
  Stopwatch watch;
  TWILL_TRY(schedule::LoopText loop, schedule::parse_loop(request.input.text, request.input.name));
  const double read = watch.lap();
  TWILL_TRY_VOID(check_hand_offs(request, !loop.problem.hand_offs().empty()));
  TWILL_TRY(ArrangedProblem arranged, arrange_problem(std::move(loop.problem), request));
  const double solve = watch.lap();
  report::Outcome outcome = outcome_of(request, std::move(arranged));
  TWILL_TRY_VOID(check(request.input, outcome));
  outcome.timings = {read, solve, watch.lap()};
  return outcome;
}

Result<ArrangedKernel> best_arrangement(const Kernel& kernel, const Request& request) {
  if (request.strategy.strategy != strategy::Strategy::twill) {
    return arrange_kernel(kernel, request);
  }
  TWILL_TRY(BestEnd end, solve_ends(kernel, request));
  return ArrangedKernel{std::move(end), {}, std::nullopt, {}};
}

Result<report::Outcome> schedule_kernel(const Request& request) {
  Stopwatch watch;
  TWILL_TRY(const Kernel kernel, read_kernel(request));
  const double read = watch.lap();
  TWILL_TRY(ArrangedKernel arranged, best_arrangement(kernel, request));
  BestEnd& end = arranged.end;
  const double solve = watch.lap();
  PosedPool& chosen = end.pool;
  report::Outcome outcome =
      described(request.input, std::move(chosen.problem), std::move(end.answer));
  outcome.loop = loop_in_words(kernel);
  outcome.machine = kernel.machine->name;
  outcome.machine_measured = kernel.machine->measured;
  outcome.pool = std::move(chosen.pool);
  outcome.pools = std::move(end.pools);
  outcome.rate = report::name_of(end.rate);
  outcome.strategy = strategy::name_of(request.strategy.strategy);
  outcome.ring_depth = arranged.ring_depth;
  outcome.regions = std::move(arranged.regions);
  outcome.order_circuit = std::move(arranged.circuit);
  outcome.candidates = std::move(end.candidates);
  outcome.origins = std::move(chosen.origins);
  outcome.notes = std::move(chosen.notes);
  outcome.reserved = std::move(chosen.reserved);
  outcome.bracket = std::move(end.bracket);
  outcome.warnings = std::move(end.warnings);
  TWILL_TRY_VOID(check(request.input, outcome));
  outcome.timings = {read, solve, watch.lap()};
  return outcome;
}

Result<PosedLoop> pose_as_it_is(const Request& request, machine::Rate rate) {
  TWILL_TRY(const Form form, form_of(request.input));
  if (form == Form::loop) {
    TWILL_TRY(schedule::LoopText loop,
              schedule::parse_loop(request.input.text, request.input.name));
    return PosedLoop{std::move(loop.problem), {}};
  }
  if (form == Form::schedule_json) return no_loop(request.input);
  TWILL_TRY(const Kernel kernel, read_kernel(request));
  TWILL_TRY(PosedKernel posed, pose_kernel(kernel, request, rate));
  return PosedLoop{std::move(posed.pools.front().problem), std::move(posed.warnings)};
}

Result<void> check_strategy(const Request& request) {
  auto checked = strategy::check(request.strategy);
  if (checked) return {};
  Diagnostic why = std::move(checked).error();
  why.location.file = request.input.name;
  return tl::unexpected(std::move(why));
}

Result<report::Outcome> schedule_once(const Request& request) {
  TWILL_TRY(const Form form, form_of(request.input));
  if (form == Form::schedule_json) return no_loop(request.input);
  TWILL_TRY_VOID(check_strategy(request));
  if (request.given) {
    TWILL_TRY(report::Outcome outcome, given_schedule(request));
    return outcome;
  }
  TWILL_TRY_VOID(check_hand_offs(request, request.hand_offs));
  if (request.normalize) return schedule_normalized(request);
  if (form == Form::loop) return schedule_hand_written(request);
  return schedule_kernel(request);
}

}  // namespace

Result<report::Outcome> schedule_loop(const Request& request) {
  TWILL_TRY(report::Outcome outcome, schedule_once(request));
  Stopwatch watch;
  TWILL_TRY_VOID(add_alternatives(request, outcome));
  leave_what_exists(outcome);
  outcome.timings.solve += watch.lap();
  return outcome;
}

Result<PosedLoop> pose_loop(const Request& request, machine::Rate rate) {
  TWILL_TRY(PosedLoop posed, pose_as_it_is(request, rate));
  if (!request.normalize) return posed;
  auto normalized = problem::normalize(posed.problem, *request.normalize);
  if (!normalized) return fail({request.input.name}, normalized.error().message);
  const std::string what = problem::in_words(*request.normalize, normalized->costs);
  posed.warnings.push_back({{request.input.name}, what, "", ""});
  return PosedLoop{std::move(normalized->problem), std::move(posed.warnings)};
}

}  // namespace twill::driver
