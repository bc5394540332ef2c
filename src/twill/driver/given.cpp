#include "twill/driver/given.h"

#include <utility>

#include "twill/driver/checking.h"
#include "twill/driver/input.h"
#include "twill/driver/kernel.h"
#include "twill/schedule/loop_text.h"

namespace twill::driver {
namespace {

tl::unexpected<Diagnostic> of_another(const Request& request, const report::Outcome& given) {
  return fail(
      {request.given->name},
      "the schedule is of another loop than " + request.input.name +
          ": this is not posed as the Problem with hash " + given.problem_hash.substr(0, 12),
      "give the options it was made with (--machine, --loop, --subtile, --strict, --hand-offs), "
      "or find a new one with `twill schedule`");
}

Result<report::Outcome> given_of_text(const Request& request, report::Outcome given) {
  TWILL_TRY(schedule::LoopText loop, schedule::parse_loop(request.input.text, request.input.name));
  if (schedule::problem_hash(loop.problem) != given.problem_hash) return of_another(request, given);
  given.input = request.input.name;
  return given;
}

Result<report::Outcome> given_of_kernel(const Request& request, report::Outcome given) {
  TWILL_TRY(const Kernel kernel, read_kernel(request));
  for (const machine::Rate rate : {machine::Rate::slowest, machine::Rate::fastest}) {
    TWILL_TRY(PosedKernel posed, pose_kernel(kernel, request, rate));
    for (PosedPool& pool : posed.pools) {
      if (schedule::problem_hash(pool.problem) != given.problem_hash) continue;
      report::Outcome outcome =
          described(request.input, std::move(pool.problem), std::move(given.answer));
      outcome.loop = loop_in_words(kernel);
      outcome.machine = kernel.machine->name;
      outcome.machine_measured = kernel.machine->measured;
      outcome.pools = {pool.pool};
      outcome.pool = std::move(pool.pool);
      outcome.rate = report::name_of(rate);
      outcome.order_circuit = std::move(given.order_circuit);
      outcome.origins = std::move(pool.origins);
      outcome.notes = std::move(pool.notes);
      outcome.reserved = std::move(pool.reserved);
      outcome.violations = std::move(given.violations);
      outcome.warnings = std::move(posed.warnings);
      return outcome;
    }
  }
  return of_another(request, given);
}

}  // namespace

Result<report::Outcome> given_schedule(const Request& request) {
  TWILL_TRY(const Form form, form_of(request.input));
  TWILL_TRY(report::Outcome given, read_given(*request.given));
  TWILL_TRY(report::Outcome outcome, form == Form::loop
                                         ? given_of_text(request, std::move(given))
                                         : given_of_kernel(request, std::move(given)));
  outcome.strategy = "given";
  leave_what_exists(outcome);
  return outcome;
}

}  // namespace twill::driver
