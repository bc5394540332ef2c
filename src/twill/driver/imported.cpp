#include "twill/driver/imported.h"

#include <utility>

#include "twill/driver/checking.h"
#include "twill/driver/input.h"
#include "twill/driver/kernel.h"
#include "twill/driver/rates.h"
#include "twill/schedule/loop_text.h"

namespace twill::driver {
namespace {

tl::unexpected<Diagnostic> of_another(const Request& request, const report::Outcome& imported) {
  return fail(
      {request.imported->name},
      "the schedule is of another loop than " + request.input.name +
          ": this is not posed as the Problem with hash " + imported.problem_hash.substr(0, 12),
      "give the options it was made with (--machine, --loop, --subtile, --strict, --transfer-ops), "
      "or find a new one with `twill schedule`");
}

Result<report::Outcome> imported_of_text(const Request& request, const schedule::LoopText& loop,
                                         report::Outcome imported) {
  if (schedule::problem_hash(loop.problem) != imported.problem_hash)
    return of_another(request, imported);
  imported.input = request.input.name;
  return imported;
}

/// Bracket from the lower bound of all schedules to the interval of the imported schedule. That
/// schedule may have the slowest costs, while its plan runs at others.
Result<report::Bracket> bracket_of_imported(const Request& request, const Kernel& kernel,
                                            const report::Outcome& imported, machine::Rate rate,
                                            const PosedPool& pool) {
  TWILL_TRY(const PosedKernel fastest, pose_kernel(kernel, request, machine::Rate::fastest));
  TWILL_TRY(const PosedKernel slowest, pose_kernel(kernel, request, machine::Rate::slowest));
  return bracket_of(least_bound(fastest), candidate_at(rate, pool, imported.answer, fastest,
                                                       slowest, waiting_of(kernel.machine)));
}

/// Outcome for the imported schedule. Empty if the kernel is not posed as its Problem.
Result<std::optional<report::Outcome>> imported_as_posed(const Request& request,
                                                         const Kernel& kernel,
                                                         const report::Outcome& imported) {
  for (const machine::Rate rate : {machine::Rate::slowest, machine::Rate::fastest}) {
    TWILL_TRY(PosedKernel posed, pose_kernel(kernel, request, rate));
    for (PosedPool& pool : posed.pools) {
      if (schedule::problem_hash(pool.problem) != imported.problem_hash) continue;
      std::optional<report::Bracket> bracket;
      if (imported.violations.empty()) {
        TWILL_TRY(bracket, bracket_of_imported(request, kernel, imported, rate, pool));
      }
      report::Outcome outcome = described(request.input, std::move(pool.problem), imported.answer);
      outcome.bracket = std::move(bracket);
      outcome.loop = loop_in_words(kernel);
      outcome.loop_source = loop_source(kernel);
      outcome.machine = kernel.machine->name;
      outcome.machine_measured = kernel.machine->measured;
      outcome.pools = {pool.pool};
      outcome.pool = std::move(pool.pool);
      outcome.rate = report::name_of(rate);
      outcome.load_latency = kernel.load_latency;
      outcome.order_circuit = imported.order_circuit;
      outcome.origins = std::move(pool.origins);
      outcome.lines = source_lines(kernel.program, outcome.origins);
      outcome.notes = std::move(pool.notes);
      outcome.reserved = std::move(pool.reserved);
      outcome.violations = imported.violations;
      outcome.warnings = std::move(posed.warnings);
      outcome.live_only = posed.live_only;
      return outcome;
    }
  }
  return std::nullopt;
}

Result<report::Outcome> imported_of_kernel(const Request& request, const Kernel& kernel,
                                           const report::Outcome& imported) {
  TWILL_TRY(std::optional<report::Outcome> found, imported_as_posed(request, kernel, imported));
  if (!found && !kernel.load_latency) {
    TWILL_TRY(found, imported_as_posed(request, with_load_latency(kernel), imported));
  }
  if (found) return *std::move(found);
  const auto last_resort = request.pool.empty() ? with_last_resort(kernel) : std::nullopt;
  if (last_resort) return imported_of_kernel(request, *last_resort, imported);
  return of_another(request, imported);
}

}  // namespace

Result<report::Outcome> imported_schedule(const Request& request, const Reading& reading) {
  TWILL_TRY(report::Outcome imported, read_imported(*request.imported));
  TWILL_TRY(report::Outcome outcome,
            reading.kernel ? imported_of_kernel(request, *reading.kernel, imported)
                           : imported_of_text(request, *reading.loop, std::move(imported)));
  outcome.strategy = "imported";
  return outcome;
}

}  // namespace twill::driver
