#include "twill/driver/imported.h"

#include <utility>

#include "twill/driver/checking.h"
#include "twill/driver/input.h"
#include "twill/driver/kernel.h"
#include "twill/driver/rates.h"
#include "twill/schedule/loop_text.h"

namespace twill::driver {
namespace {

tl::unexpected<Diagnostic> of_another(const Request& request, const report::Outcome& given) {
  return fail(
      {request.given->name},
      "the schedule is of another loop than " + request.input.name +
          ": this is not posed as the Problem with hash " + given.problem_hash.substr(0, 12),
      "give the options it was made with (--machine, --loop, --subtile, --strict, --transfer-ops), "
      "or find a new one with `twill schedule`");
}

Result<report::Outcome> given_of_text(const Request& request, const schedule::LoopText& loop,
                                      report::Outcome given) {
  if (schedule::problem_hash(loop.problem) != given.problem_hash) return of_another(request, given);
  given.input = request.input.name;
  return given;
}

/// Bracket from the lower bound of all schedules to the interval that the imported one keeps. Its
/// costs may be the slowest, and its plan runs at others.
Result<report::Bracket> bracket_of_given(const Request& request, const Kernel& kernel,
                                         const report::Outcome& given, machine::Rate rate,
                                         const PosedPool& pool) {
  TWILL_TRY(const PosedKernel fastest, pose_kernel(kernel, request, machine::Rate::fastest));
  TWILL_TRY(const PosedKernel slowest, pose_kernel(kernel, request, machine::Rate::slowest));
  return bracket_of(least_bound(fastest), candidate_at(rate, pool, given.answer, fastest, slowest,
                                                       waiting_of(kernel.machine)));
}

/// Empty if the kernel is not posed as the Problem of the given schedule.
Result<std::optional<report::Outcome>> given_as_posed(const Request& request, const Kernel& kernel,
                                                      const report::Outcome& given) {
  for (const machine::Rate rate : {machine::Rate::slowest, machine::Rate::fastest}) {
    TWILL_TRY(PosedKernel posed, pose_kernel(kernel, request, rate));
    for (PosedPool& pool : posed.pools) {
      if (schedule::problem_hash(pool.problem) != given.problem_hash) continue;
      std::optional<report::Bracket> bracket;
      if (given.violations.empty()) {
        TWILL_TRY(bracket, bracket_of_given(request, kernel, given, rate, pool));
      }
      report::Outcome outcome = described(request.input, std::move(pool.problem), given.answer);
      outcome.bracket = std::move(bracket);
      outcome.loop = loop_in_words(kernel);
      outcome.loop_source = loop_source(kernel);
      outcome.machine = kernel.machine->name;
      outcome.machine_measured = kernel.machine->measured;
      outcome.pools = {pool.pool};
      outcome.pool = std::move(pool.pool);
      outcome.rate = report::name_of(rate);
      outcome.load_latency = kernel.load_latency;
      outcome.order_circuit = given.order_circuit;
      outcome.origins = std::move(pool.origins);
      outcome.lines = source_lines(kernel.program, outcome.origins);
      outcome.notes = std::move(pool.notes);
      outcome.reserved = std::move(pool.reserved);
      outcome.violations = given.violations;
      outcome.warnings = std::move(posed.warnings);
      outcome.live_only = posed.live_only;
      return outcome;
    }
  }
  return std::nullopt;
}

Result<report::Outcome> given_of_kernel(const Request& request, const Kernel& kernel,
                                        const report::Outcome& given) {
  TWILL_TRY(std::optional<report::Outcome> found, given_as_posed(request, kernel, given));
  if (!found && !kernel.load_latency) {
    TWILL_TRY(found, given_as_posed(request, with_load_latency(kernel), given));
  }
  if (!found) return of_another(request, given);
  return *std::move(found);
}

}  // namespace

Result<report::Outcome> given_schedule(const Request& request, const Reading& reading) {
  TWILL_TRY(report::Outcome given, read_given(*request.given));
  TWILL_TRY(report::Outcome outcome, reading.kernel
                                         ? given_of_kernel(request, *reading.kernel, given)
                                         : given_of_text(request, *reading.loop, std::move(given)));
  outcome.strategy = "imported";
  return outcome;
}

}  // namespace twill::driver
