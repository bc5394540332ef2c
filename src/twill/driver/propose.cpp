#include "twill/driver/propose.h"

#include <utility>

#include "twill/driver/arranged.h"
#include "twill/driver/checking.h"
#include "twill/driver/imported.h"
#include "twill/driver/rates.h"
#include "twill/driver/stated.h"
#include "twill/problem/problem.h"
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

/// Refuses requests that a problem with transfers does not support.
Result<void> check_transfers(const Request& request, bool has_some) {
  if (!has_some) return {};
  if (request.strategy.strategy != strategy::Strategy::twill) {
    return fail({request.input.name},
                "only the strategy twill decides on transfers; '" +
                    std::string(name_of(request.strategy.strategy)) + "' treats them as a delay",
                request.transfers ? "leave --transfer-ops out" : "take its transfer lines out");
  }
  return {};
}

Result<void> check_strategy(const Request& request) {
  auto checked = strategy::check(request.strategy);
  if (checked) return {};
  Diagnostic why = std::move(checked).error();
  why.location.file = request.input.name;
  return tl::unexpected(std::move(why));
}

/// Arranges one Problem with its own costs.
Result<report::Outcome> arrange_one(const Request& request, problem::Problem problem) {
  Stopwatch watch;
  TWILL_TRY_VOID(check_transfers(request, !problem.transfers().empty()));
  TWILL_TRY(ArrangedProblem arranged, arrange_problem(std::move(problem), request));
  const double solve = watch.lap();
  report::Outcome outcome =
      described(request.input, std::move(arranged.problem), std::move(arranged.answer));
  outcome.strategy = strategy::name_of(request.strategy.strategy);
  outcome.ring_depth = arranged.ring_depth;
  outcome.regions = std::move(arranged.regions);
  outcome.order_circuit = std::move(arranged.circuit);
  outcome.notes = std::move(arranged.notes);
  TWILL_TRY_VOID(check(request.input, outcome));
  outcome.timings = {0, solve, watch.lap()};
  return outcome;
}

/// Schedules the input with normalized costs.
Result<report::Outcome> arrange_normalized(const Request& request, const Reading& reading) {
  TWILL_TRY(PosedLoop posed, pose_reading(request, reading, machine::Rate::slowest));
  TWILL_TRY(report::Outcome outcome, arrange_one(request, std::move(posed.problem)));
  // The last warning states the changes of costs.
  outcome.notes.push_back(std::move(posed.warnings.back().message));
  posed.warnings.pop_back();
  outcome.warnings = std::move(posed.warnings);
  return outcome;
}

report::Outcome outcome_of(const Request& request, const Kernel& kernel,
                           const ArrangedKernel& arranged) {
  const BestRate& best = arranged.best;
  report::Outcome outcome = described(request.input, best.pool.problem, best.answer);
  outcome.loop = loop_in_words(kernel);
  outcome.loop_source = loop_source(kernel);
  outcome.machine = kernel.machine->name;
  outcome.machine_measured = kernel.machine->measured;
  outcome.pool = best.pool.pool;
  outcome.pools = best.pools;
  outcome.rate = report::name_of(best.rate);
  outcome.strategy = strategy::name_of(request.strategy.strategy);
  outcome.load_latency = kernel.load_latency;
  outcome.ring_depth = arranged.ring_depth;
  outcome.regions = arranged.regions;
  outcome.order_circuit = arranged.circuit;
  outcome.candidates = best.candidates;
  outcome.origins = best.pool.origins;
  outcome.lines = source_lines(kernel.program, outcome.origins);
  outcome.notes = best.pool.notes;
  outcome.reserved = best.pool.reserved;
  outcome.bracket = best.bracket;
  outcome.warnings = best.warnings;
  outcome.live_only = best.live_only;
  return outcome;
}

Result<std::vector<ArrangedKernel>> arrangements(const Request& request, const Reading& reading,
                                                 bool tries) {
  const Kernel& kernel = *reading.kernel;
  const Judge judge = [&](const ArrangedKernel& arranged) -> Result<std::optional<Trial>> {
    if (!tries) return std::nullopt;
    return try_outcome(request, reading, outcome_of(request, kernel, arranged), false);
  };
  if (request.strategy.strategy != strategy::Strategy::twill) {
    return arrange_kernel(kernel, request, judge);
  }
  return solve_rates(kernel, request, judge);
}

Result<std::vector<Proposal>> arrange_all(const Request& request, const Reading& reading,
                                          bool tries) {
  Stopwatch watch;
  TWILL_TRY(std::vector<ArrangedKernel> all, arrangements(request, reading, tries));
  const double solve = watch.lap();
  std::vector<Proposal> out;
  for (ArrangedKernel& arranged : all) {
    report::Outcome outcome = outcome_of(request, *reading.kernel, arranged);
    TWILL_TRY_VOID(check(request.input, outcome));
    outcome.timings = {0, solve, watch.lap()};
    out.push_back({std::move(outcome), std::move(arranged.best.trial)});
  }
  return out;
}

/// Warns about an unrequested schedule or order in a `.loop` text.
std::optional<Diagnostic> left_aside(const Request& request, const schedule::LoopText& loop) {
  if (!loop.schedule && !loop.order) return std::nullopt;
  const std::string what = loop.schedule ? "schedule" : "order";
  return Diagnostic{{request.input.name, loop.schedule ? 0 : loop.order_line, 0},
                    "the " + what + " in it is ignored: a search finds another",
                    "",
                    "`twill plan` takes it by --schedule, `twill " +
                        std::string(loop.schedule ? "verify` checks" : "evaluate` answers for") +
                        " it"};
}

Result<report::Outcome> propose_one(const Request& request, const Reading& reading) {
  if (request.imported) return imported_schedule(request, reading);
  TWILL_TRY_VOID(check_transfers(request, request.transfers));
  TWILL_TRY(report::Outcome outcome, request.normalize
                                         ? arrange_normalized(request, reading)
                                         : arrange_one(request, reading.loop->problem));
  const auto what = reading.loop ? left_aside(request, *reading.loop) : std::nullopt;
  if (what) outcome.warnings.push_back(*what);
  return outcome;
}

}  // namespace

bool usable(const report::Outcome& outcome) {
  return outcome.answer.schedule.has_value() && outcome.violations.empty();
}

Result<std::optional<Trial>> try_outcome(const Request& request, const Reading& reading,
                                         report::Outcome outcome, bool shrink) {
  leave_what_exists(outcome);
  return try_plan(request, reading, outcome, shrink);
}

Result<std::vector<Proposal>> propose(const Request& request, const Reading& reading, bool tries) {
  TWILL_TRY_VOID(check_strategy(request));
  if (reading.kernel) {
    TWILL_TRY_VOID(check_strategy_stated(request, *reading.kernel));
  }
  if (reading.kernel && !request.imported && !request.normalize) {
    TWILL_TRY_VOID(check_transfers(request, request.transfers));
    return arrange_all(request, reading, tries);
  }
  TWILL_TRY(report::Outcome outcome, propose_one(request, reading));
  std::optional<Trial> trial;
  if (tries && usable(outcome)) {
    TWILL_TRY(trial, try_outcome(request, reading, outcome, false));
  }
  std::vector<Proposal> out;
  out.push_back({std::move(outcome), std::move(trial)});
  return out;
}

}  // namespace twill::driver
