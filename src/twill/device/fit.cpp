#include "twill/device/fit.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "twill/dialect/register_layouts.h"

namespace twill::device {
namespace {

/// Rings of fewer copies than this hide nothing.
constexpr int kFewestCopies = 2;

/// The most that a change of layout in a block writes to shared memory.
std::int64_t scratch_of(const Kernel& kernel, const Block& block) {
  std::int64_t most = 0;
  for (const Node& node : block.nodes) {
    if (node.kind == NodeKind::relayout) {
      const ir::Type to = kernel[node.results[0]].type;
      const bool operand = ir::dot_operand_encoding(to->encoding).has_value();
      const auto in_warps =
          dialect::scratch_in_warps(kernel[node.operands[0]].type->encoding, to->encoding);
      const std::int64_t all = ir::element_count(to) * ir::element_bits(to) / 8;
      if (!operand) most = std::max(most, std::min(all, in_warps.value_or(all)));
    }
    for (const Block& inner : node.blocks) most = std::max(most, scratch_of(kernel, inner));
  }
  return most;
}

/// Buffers that a block has of its own, taken to be there together.
std::int64_t allocated_in(const Kernel& kernel, const Block& block) {
  std::int64_t bytes = 0;
  for (const Node& node : block.nodes) {
    if (node.kind == NodeKind::allocate) bytes += ir::byte_size(kernel[node.results[0]].type);
    for (const Block& inner : node.blocks) bytes += allocated_in(kernel, inner);
  }
  return bytes;
}

bool is_ring(const plan::Plan& plan, const plan::Channel& channel) {
  return channel.kind == plan::ChannelKind::pipeline && !channel.buffers.empty() &&
         channel.counts == plan::Channel::Counts::iterations &&
         std::all_of(channel.buffers.begin(), channel.buffers.end(), [&](plan::BufferId buffer) {
           return plan[buffer].depth == channel.depth && plan[buffer].initial == 0;
         });
}

/// The plan with one copy less in its deepest rings, proven. nullopt if that is no plan.
std::optional<plan::ProvenPlan> with_fewer_copies(plan::Plan plan) {
  int deepest = 0;
  for (const plan::Channel& channel : plan.channels) {
    if (is_ring(plan, channel)) deepest = std::max(deepest, channel.depth);
  }
  if (deepest <= kFewestCopies) return std::nullopt;
  for (plan::Channel& channel : plan.channels) {
    if (!is_ring(plan, channel) || channel.depth != deepest) continue;
    channel.depth = deepest - 1;
    for (const plan::BufferId buffer : channel.buffers) {
      plan.buffers[buffer.index()].depth = deepest - 1;
    }
  }
  auto proven = plan::prove(std::move(plan));
  return proven ? std::optional(*std::move(proven)) : std::nullopt;
}

}  // namespace

std::int64_t shared_bytes(const Kernel& kernel) {
  std::int64_t bytes = 0;
  for (const Node& node : kernel.setup) {
    if (node.kind != NodeKind::allocate) continue;
    bytes += ir::byte_size(kernel[node.results[0]].type);
  }
  for (const Role& role : kernel.roles) {
    bytes += scratch_of(kernel, role.body) + allocated_in(kernel, role.body);
  }
  return bytes;
}

Result<Fitted> build_within(const Parts& given, std::int64_t capacity) {
  Parts parts = given;
  TWILL_TRY(Kernel kernel, build(parts));
  std::vector<std::string> notes;
  if (shared_bytes(kernel) > capacity) {
    parts.boxes_in_invariant_buffers = true;
    TWILL_TRY(kernel, build(parts));
  }
  std::optional<plan::ProvenPlan> plan;
  while (shared_bytes(kernel) > capacity) {
    plan = with_fewer_copies((plan ? *plan : given.plan).plan());
    if (!plan) {
      return fail(ir::text_location(parts.program, parts.loop),
                  fmt::format("needs {} bytes of shared memory with what changes of layout take, "
                              "and there are {}",
                              shared_bytes(kernel), capacity),
                  "choose smaller tiles");
    }
    notes.push_back(
        "the deepest rings have a copy less than planned: memory for changes of layout");
    TWILL_TRY(kernel,
              build({parts.program, parts.loop, parts.origins, *plan, true, parts.parts_of_rings}));
  }
  kernel.notes.insert(kernel.notes.end(), notes.begin(), notes.end());
  return Fitted{std::move(kernel), std::move(plan)};
}

}  // namespace twill::device
