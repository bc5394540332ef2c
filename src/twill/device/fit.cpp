#include "twill/device/fit.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "twill/dialect/register_layouts.h"
#include "twill/plan/buffers.h"

namespace twill::device {

/// Buffers of roles are taken to be there together.
std::int64_t shared_bytes(const Kernel& kernel) {
  std::int64_t bytes = 0;
  const auto allocate = [&](const Node& node) {
    if (node.kind == NodeKind::allocate) bytes += ir::byte_size(kernel[node.results[0]].type);
  };
  walk(kernel.setup, allocate);
  for (const Role& role : kernel.roles) {
    walk(role.body.nodes, allocate);
    std::int64_t scratch = 0;
    walk(role.body.nodes, [&](const Node& node) {
      if (node.kind != NodeKind::relayout) return;
      const ir::Type from = kernel[node.operands[0]].type, to = kernel[node.results[0]].type;
      const bool is_operand = dialect::is_of_operand(to->encoding);
      if (is_operand && dialect::is_of_product(from->encoding)) return;  // stays in registers
      const auto in_warps = dialect::scratch_in_warps(from->encoding, to->encoding);
      const std::int64_t all = ir::byte_size(to);
      scratch = std::max(scratch, std::min(all, in_warps.value_or(all)));
    });
    bytes += scratch;
  }
  return bytes;
}

namespace {

/// A kernel, and the bytes of shared memory that it takes; more than all: its plan has no room.
struct Sized {
  std::optional<Kernel> kernel;
  std::int64_t bytes = std::numeric_limits<std::int64_t>::max();
};

Result<Sized> build_sized(const Parts& parts) {
  TWILL_TRY(const auto plan, with_stores(parts));
  if (!plan) return Sized{};
  TWILL_TRY(Kernel kernel, build_tree(with_plan(parts, *plan)));
  const std::int64_t bytes = shared_bytes(kernel);
  return Sized{std::move(kernel), bytes};
}

}  // namespace

Result<Fitted> build_within(const Parts& given, std::int64_t capacity) {
  Parts parts = given;
  TWILL_TRY(Sized sized, build_sized(parts));
  int fewer = 0;
  if (sized.bytes > capacity) {
    parts.boxes_in_invariant_buffers = true;
    TWILL_TRY(sized, build_sized(parts));
  }
  std::optional<plan::ProvenPlan> plan;
  while (sized.bytes > capacity) {
    plan = plan::with_fewer_copies((plan ? *plan : given.plan).plan());
    if (!plan) {
      return fail(ir::text_location(parts.program, parts.loop),
                  fmt::format("needs more than the {} bytes of shared memory that there are, with "
                              "what changes of layout take",
                              capacity),
                  "choose smaller tiles");
    }
    ++fewer;
    TWILL_TRY(sized, build_sized(with_plan(parts, *plan)));
  }
  if (fewer > 0) {
    sized.kernel->notes.push_back(
        fmt::format("the deepest rings have {} less than planned: memory for changes of layout",
                    fewer == 1 ? "a copy" : fmt::format("{} copies", fewer)));
  }
  return Fitted{*std::move(sized.kernel), std::move(plan)};
}

}  // namespace twill::device
