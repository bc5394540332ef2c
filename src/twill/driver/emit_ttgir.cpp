#include "twill/driver/emit_ttgir.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "twill/device/fit.h"
#include "twill/driver/kernel.h"
#include "twill/driver/run_module.h"
#include "twill/emit/ttgir.h"
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
  const ir::OpId loop = kernel.choice.loop;
  return ir::parent(kernel.program, loop) !=
         ir::enclosing(kernel.program, loop, ir::OpKind::function);
}

}  // namespace

Result<EmittedTtgir> emit_ttgir(const Request& given, std::optional<dialect::Spelling> spelling) {
  TWILL_TRY(Reading read, read_once(given));
  Request request = given;
  // Triton launches the grid of the text: only a loop over tiles of the text's own is walked.
  const bool may_walk = given.tiles == TileWalk::where_possible;
  if (read.kernel && may_walk && !has_own_tiles(*read.kernel)) request.tiles = TileWalk::one;
  const auto reading = std::make_shared<const Reading>(std::move(read));
  TWILL_TRY(PlannedLoop planned, answer_reading(request, reading));
  EmittedTtgir emitted{std::move(planned), {}};
  if (!emitted.planned.plan) return emitted;
  if (emitted.planned.outcome.machine.empty()) {
    return fail({request.input.name},
                "a .loop text says when, and not what: it has no kernel to print",
                "give the TTGIR of the kernel");
  }
  const Kernel& kernel = *emitted.planned.reading->kernel;
  TWILL_TRY(const device::Kernel tree,
            device::build_within({kernel.program, kernel.choice.loop,
                                  emitted.planned.outcome.origins, *emitted.planned.plan},
                                 shared_memory(*kernel.machine)));
  const dialect::Spelling as = spelling.value_or(dialect::spelling_of(request.input.text));
  TWILL_TRY(const std::string text, emit::ttgir_kernel(kernel.program, tree, as));
  std::string story = report::story(emitted.planned.outcome);
  for (const std::string& note : tree.notes) story += "note: " + note + "\n";
  TWILL_TRY(const std::string unchecked, check_printed(text));
  if (!unchecked.empty()) story += "note: " + unchecked + "\n";
  emitted.text = as_comment(story) + text;
  return emitted;
}

}  // namespace twill::driver
