#include "twill/driver/fit.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "twill/dialect/register_layouts.h"
#include "twill/plan/buffers.h"

namespace twill::driver {

using device::Node;
using device::NodeKind;

/// Counts the buffers of all roles as existing at the same time.
std::int64_t shared_bytes(const device::Kernel& kernel) {
  std::int64_t bytes = 0;
  const auto allocate = [&](const Node& node) {
    if (node.kind == NodeKind::allocate) bytes += ir::byte_size(kernel[node.results[0]].type);
  };
  device::walk(kernel.setup, allocate);
  for (const device::Role& role : kernel.roles) {
    device::walk(role.body.nodes, allocate);
    std::int64_t scratch = 0;
    device::walk(role.body.nodes, [&](const Node& node) {
      if (node.kind != NodeKind::relayout) return;
      const ir::Type from = kernel[node.operands[0]].type, to = kernel[node.results[0]].type;
      const bool is_operand = dialect::is_of_operand(to->encoding);
      // The operand stays in registers.
      if (is_operand && dialect::is_of_product(from->encoding)) return;
      const auto in_warps = dialect::scratch_in_warps(from->encoding, to->encoding);
      const std::int64_t all = ir::byte_size(to);
      scratch = std::max(scratch, std::min(all, in_warps.value_or(all)));
    });
    bytes += scratch;
  }
  return bytes;
}

Result<Fitted> build_within(const device::Parts& given, std::int64_t capacity) {
  device::Parts parts = given;
  TWILL_TRY(device::Kernel kernel, device::build(parts));
  int fewer = 0;
  if (shared_bytes(kernel) > capacity) {
    parts.boxes_in_invariant_buffers = true;
    TWILL_TRY(kernel, device::build(parts));
  }
  std::optional<plan::ProvenPlan> plan;
  while (shared_bytes(kernel) > capacity) {
    plan = plan::with_fewer_copies((plan ? *plan : given.plan).plan());
    if (!plan) {
      return fail(ir::text_location(parts.program, parts.loop),
                  fmt::format("needs {} bytes of shared memory, changes of layout included, "
                              "and there are {}",
                              shared_bytes(kernel), capacity),
                  "choose smaller tiles");
    }
    ++fewer;
    TWILL_TRY(kernel, device::build({parts.program, parts.loop, parts.origins, *plan, true,
                                     parts.parts_of_rings}));
  }
  if (fewer > 0) {
    kernel.notes.push_back(
        fmt::format("the deepest rings have {} less than planned: memory for changes of layout",
                    fewer == 1 ? "a copy" : fmt::format("{} copies", fewer)));
  }
  return Fitted{std::move(kernel), std::move(plan)};
}

}  // namespace twill::driver
