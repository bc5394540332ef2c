#include <algorithm>

#include "twill/ir/loop.h"
#include "twill/ir/operands.h"
#include "twill/run/role_steps.h"

/// Loops of a role beside the planned one.
namespace twill::run {

/// Whether the op may be of a product that stands in no loop, of which the plan has effects only.
/// The role is in front of the tile's sections, and the first step there is of another kind; or it
/// is behind all of them.
bool RoleSteps::is_around(ir::OpKind kind) {
  if (!all_.products_around) return false;
  const auto is_left = [&](const Placed& placed) {
    const bool drained =
        placed.step->kind == plan::StepKind::drain_groups && open_products_ <= placed.step->pending;
    return !placed.is_per_tile && shows(placed) && !drained;
  };
  const auto next = steps_.begin() + static_cast<std::ptrdiff_t>(next_);
  const auto left = std::find_if(next, steps_.end(), is_left);
  if (left == steps_.end()) return true;
  if (std::find_if(steps_.begin(), next, is_left) != next) return false;
  switch (kind) {
    case ir::OpKind::wgmma:
      return !is_product_step(*left);
    case ir::OpKind::wgmma_wait:
      return left->step->kind != plan::StepKind::drain_groups;
    case ir::OpKind::shared_store:
      return !written_by(*left->step);
    default:
      return kind == ir::OpKind::shared_load;
  }
}

bool stands_in_branch(const ir::Program& program, ir::OpId op) {
  for (auto at = ir::parent(program, op); at; at = ir::parent(program, *at)) {
    if (program.op(*at).kind == ir::OpKind::branch) return true;
    if (ir::is_loop(program.op(*at).kind)) return false;
  }
  return false;
}

bool RoleSteps::is_in_branch(const concurrent::Role& state) const {
  return std::any_of(state.frames.begin(), state.frames.end(),
                     [&](const auto& frame) { return all_.branches.contains(frame.op); });
}

/// Whether the step's work stands in a branch with products: the role does all of it in one piece.
bool RoleSteps::is_of_branch(const Placed& placed) const {
  if (all_.branches.empty() || !placed.step->op) return false;
  const auto& sources = all_.what.origins[placed.step->op->index()].sources;
  return std::any_of(sources.begin(), sources.end(), [&](const extract::Source& source) {
    return stands_in_branch(all_.what.kernel, source.op);
  });
}

/// Fillings of a channel that loops beside the planned one used before the tile.
std::int64_t RoleSteps::used_beside(plan::ChannelId channel) const {
  const auto found = beside_before_.find(channel);
  return found == beside_before_.end() ? 0 : found->second;
}

/// Copies of a buffer that loops beside the planned one used before the tile.
std::int64_t RoleSteps::used_beside(plan::BufferId buffer) const {
  for (const auto& [channel, used] : beside_before_) {
    const auto& guarded = plan_[channel].buffers;
    if (std::find(guarded.begin(), guarded.end(), buffer) != guarded.end()) return used;
  }
  return 0;
}

/// A wait in a loop beside the planned one is for the filling that follows the last one. The ring
/// goes on from there in the next tile.
std::string RoleSteps::take_beside(const concurrent::Role& state, ir::OpId id) {
  const ir::Op& op = all_.what.module.op(id);
  const auto value = ir::operand_in(op, ir::Role::barrier);
  const auto parity = ir::operand_in(op, ir::Role::phase);
  const auto at = value ? spot(state, *value) : std::nullopt;
  const auto bound = at ? all_.bindings.channel_of(at->storage) : std::nullopt;
  if (!bound || !parity) return {};
  const plan::Channel& channel = plan_[bound->second];
  if (channel.counts != plan::Channel::Counts::iterations) return {};
  const bool empty = bound->first == Bindings::Kind::empty;
  const std::int64_t first = empty ? channel.empty_parity : channel.full_parity;
  const std::int64_t asked = state.values.integer(id, *parity).value_or(-1);
  const auto is_for = [&](std::int64_t instance) {
    return at->depth == channel.depth && at->slot == instance % channel.depth &&
           asked == ((instance / channel.depth + first) & 1);
  };
  std::int64_t& used = beside_[bound->second];
  const std::int64_t next = tiles_ * all_.trips + used;
  if (is_for(next)) {
    ++used;
    return {};
  }
  if (used > used_beside(bound->second) && is_for(next - 1)) return {};  // once more
  return "a loop beside the planned one comes to filling " + std::to_string(next) + " of " +
         channel.name + " here";
}

}  // namespace twill::run
