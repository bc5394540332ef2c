#include "twill/driver/emit_ttgir.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "twill/device/fit.h"
#include "twill/driver/candidates.h"
#include "twill/driver/kernel.h"
#include "twill/driver/propose.h"
#include "twill/driver/run_module.h"
#include "twill/driver/trial.h"
#include "twill/emit/ttgir.h"
#include "twill/ir/loop.h"
#include "twill/report/story.h"
#include "twill/support/text_table.h"

namespace twill::driver {
namespace {

/// Bytes of shared memory that a CTA may use for buffers.
std::int64_t shared_memory(const machine::Description& machine) {
  for (const machine::Memory& memory : machine.memories) {
    if (memory.capacity.unit == "bytes") return static_cast<std::int64_t>(memory.capacity.value);
  }
  return std::numeric_limits<std::int64_t>::max();
}

/// Whether the kernel's text has a loop over tiles around the one that is planned.
bool has_own_tiles(const Kernel& kernel) {
  const ir::Program& program = kernel.program;
  for (auto at = ir::parent(program, kernel.choice.loop); at; at = ir::parent(program, *at)) {
    if (ir::is_loop(program.op(*at).kind)) return true;
  }
  return false;
}

/// The tree of the plan, as the module has it.
Result<device::Kernel> tree_of(const PlannedLoop& planned) {
  const Kernel& kernel = *planned.reading->kernel;
  return device::build_within(
      {kernel.program, kernel.choice.loop, planned.outcome.origins, *planned.plan},
      shared_memory(*kernel.machine));
}

/// The same schedule with a tile for each CTA; the answer for such tiles if it has no plan.
Result<PlannedLoop> with_one_tile(const Request& given, const PlannedLoop& planned) {
  Request request = given;
  request.tiles = TileWalk::one;
  PlannedLoop out{planned.outcome, {}, {}, {}, {}, planned.reading};
  TWILL_TRY(auto trial, try_outcome(request, *planned.reading, planned.outcome, false));
  if (!trial || trial->refusal) return answer_reading(request, planned.reading);
  TWILL_TRY(Attempt made, prove_trial(request, *planned.reading, *std::move(trial), {}));
  if (!made.plan) return answer_reading(request, planned.reading);
  out.plan = std::move(made.plan);
  return out;
}

}  // namespace

void look_for_ttgir(const Request& request, PlannedLoop& planned) {
  if (!planned.plan || !planned.outcome.built) return;
  if (kernel_of(*planned.reading, planned.outcome) == nullptr) return;
  const bool walks = planned.plan->plan().kernel->tiles == plan::Tiles::persistent;
  const auto one = walks ? with_one_tile(request, planned) : Result<PlannedLoop>(planned);
  std::optional<std::string>& why = planned.outcome.built->no_ttgir;
  if (!one) {
    why = in_one_line(one.error());
    return;
  }
  if (!one->plan) {
    why = "there is no plan with a tile for each CTA";
    return;
  }
  const auto tree = tree_of(*one);
  why = tree ? "" : in_one_line(tree.error());
  if (!tree) return;
  const auto text = emit::ttgir_kernel(planned.reading->kernel->program, *tree,
                                       dialect::spelling_of(request.input.text));
  if (!text) why = in_one_line(text.error());
}

Result<EmittedTtgir> emit_ttgir(const Request& given, std::optional<dialect::Spelling> spelling) {
  TWILL_TRY(Reading read, read_once(given));
  Request request = given;
  // Triton launches the grid of the text: only a loop over tiles of the text's own is walked.
  const bool may_walk = given.tiles == TileWalk::where_possible;
  if (read.kernel && may_walk && !has_own_tiles(*read.kernel)) request.tiles = TileWalk::one;
  const auto reading = std::make_shared<const Reading>(std::move(read));
  TWILL_TRY(PlannedLoop planned, answer_reading(request, reading));
  EmittedTtgir emitted{std::move(planned), {}, {}};
  if (!emitted.planned.plan) return emitted;
  if (emitted.planned.outcome.machine.empty()) {
    return fail({request.input.name},
                "a .loop text says when, and not what: it has no kernel to print",
                "give the TTGIR of the kernel");
  }
  const Kernel& kernel = *emitted.planned.reading->kernel;
  TWILL_TRY(const device::Kernel tree, tree_of(emitted.planned));
  const dialect::Spelling as = spelling.value_or(dialect::spelling_of(request.input.text));
  TWILL_TRY(const std::string text, emit::ttgir_kernel(kernel.program, tree, as));
  std::string story = report::story(emitted.planned.outcome);
  for (const std::string& note : tree.notes) story += "note: " + note + "\n";
  const PrintedCheck check = check_printed(text);
  emitted.broken = check.broken;
  if (!check.unchecked.empty()) story += "note: " + check.unchecked + "\n";
  emitted.text = as_comment(story) + text;
  return emitted;
}

}  // namespace twill::driver
