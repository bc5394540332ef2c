#include <algorithm>

#include "twill/ir/loop.h"
#include "twill/ir/operands.h"
#include "twill/run/role_steps.h"

/// Loops of a role beside the planned loop, and memory outside of the plan.
namespace twill::run {

/// Whether the text must still have an op of its own for the step.
bool RoleSteps::is_left(const Placed& placed) const {
  const plan::Step& step = *placed.step;
  const bool drained = step.kind == plan::StepKind::drain_groups && open_products_ <= step.pending;
  return shows(placed) && !drained;
}

/// Goes on to the steps after the last tile, if the role has left all loops over tiles.
void RoleSteps::add_tail(const concurrent::Role& state) {
  if (behind_tiles_ || all_.walks == 0) return;
  const bool walks = std::any_of(state.frames.begin(), state.frames.end(), is_loop_frame);
  const auto left = [&](const Placed& placed) { return is_left(placed); };
  const auto next = steps_.begin() + static_cast<std::ptrdiff_t>(next_);
  if (walks || std::any_of(next, steps_.end(), left)) return;
  behind_tiles_ = true;
  for (const plan::Step& step : role_.tail) {
    steps_.push_back({&step, step.instance.offset, step.instance.offset, true});
  }
}

/// Whether the op may belong to a product in no loop, for which the plan has effects only. The role
/// is in front of the tile's sections, with a first step of another kind, or behind all sections.
bool RoleSteps::is_around(ir::OpKind kind) {
  if (!all_.products_around) return false;
  const auto is_left = [&](const Placed& placed) {
    return !placed.is_per_tile && this->is_left(placed);
  };
  const auto next = steps_.begin() + static_cast<std::ptrdiff_t>(next_);
  const auto left = std::find_if(next, steps_.end(), is_left);
  if (left == steps_.end()) return kind != ir::OpKind::shared_store || !fills_box();
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

/// Whether the role fills a box: the step before or the next one that shows stages for a store.
bool RoleSteps::fills_box() const {
  if (next_ > 0 && box_of(*steps_[next_ - 1].step)) return true;
  const auto from = steps_.begin() + static_cast<std::ptrdiff_t>(next_);
  const auto next =
      std::find_if(from, steps_.end(), [&](const Placed& placed) { return shows(placed); });
  return next != steps_.end() && box_of(*next->step).has_value();
}

/// Whether a role makes the op's mbarrier itself. A role makes one for each tile that it loads and
/// awaits at once, without a ring of the plan.
bool has_own_barrier(const ir::Program& module, ir::OpId function, ir::OpId op) {
  const auto barrier = ir::operand_in(module.op(op), ir::Role::barrier);
  const auto made = barrier ? module.value(*barrier).op : std::nullopt;
  return made && module.op(*made).kind == ir::OpKind::shared_alloc &&
         ir::parent(module, *made) != function;
}

/// Whether the op uses an mbarrier of helpers, or threads access a buffer of helpers. A box may lie
/// in the memory of a tile no longer in use; copies and products use the tile. A buffer of one
/// element brings a scalar through a channel of the plan, and is no buffer of the plan.
bool RoleSteps::is_of_helpers(const concurrent::Role& state, ir::OpId op) const {
  const ir::OpKind kind = all_.what.module.op(op).kind;
  if (kind == ir::OpKind::block_load_async || kind == ir::OpKind::copy_async ||
      kind == ir::OpKind::wgmma) {
    return false;
  }
  const bool by_threads = kind == ir::OpKind::shared_store || kind == ir::OpKind::shared_load;
  const auto& operands = all_.what.module.op(op).operands;
  return std::any_of(operands.begin(), operands.end(), [&](ir::ValueId operand) {
    const auto* view = std::get_if<execute::View>(&state.values.value(operand));
    if (view == nullptr) return false;
    const bool brings_scalar = by_threads && execute::size_of(view->storage->shape) == 1;
    return brings_scalar || all_.of_helpers.contains({view->storage.get(), view->type_number()});
  });
}

/// Whether threads access memory that the role allocates itself, such as a box in front of the
/// loop. Buffers of the plan exist before the roles begin.
bool RoleSteps::is_of_own_memory(const concurrent::Role& state, ir::OpId id) const {
  const ir::Op& op = all_.what.module.op(id);
  if (op.kind != ir::OpKind::shared_store && op.kind != ir::OpKind::shared_load) return false;
  const auto address = ir::operand_in(op, ir::Role::address);
  const auto at = address ? spot(state, *address) : std::nullopt;
  return at && own_memory_.contains(at->storage);
}

/// Notes memory that the role writes without a step of the plan.
void RoleSteps::note_aside(const concurrent::Role& state, ir::OpId id) {
  const auto access = ir::memory_access(all_.what.module.op(id));
  const auto to = access && access->destination ? access->destination
                  : access && access->writes    ? std::optional(access->address)
                                                : std::nullopt;
  const auto at = to ? spot(state, *to) : std::nullopt;
  if (at) all_.written_aside.try_emplace(at->storage, id);
}

std::vector<ir::OpId> around(const ir::Program& program, ir::OpId op) {
  std::vector<ir::OpId> ops;
  for (auto at = ir::parent(program, op); at; at = ir::parent(program, *at)) ops.push_back(*at);
  return ops;
}

std::vector<ir::OpId> branches_around(const ir::Program& program, ir::OpId op) {
  std::vector<ir::OpId> branches;
  for (const ir::OpId at : around(program, op)) {
    if (ir::is_loop(program.op(at).kind)) break;
    if (program.op(at).kind == ir::OpKind::branch) branches.push_back(at);
  }
  return branches;
}

bool RoleSteps::is_in_branch(const concurrent::Role& state) const {
  return std::any_of(state.frames.begin(), state.frames.end(),
                     [&](const auto& frame) { return all_.branches.contains(frame.op); });
}

/// Whether the step's work is in a branch with products: the role does the branch in one piece.
bool RoleSteps::is_of_branch(const Placed& placed) const {
  if (all_.of_kernel.empty() || !placed.step->op) return false;
  const auto& sources = all_.what.origins[placed.step->op->index()].sources;
  return std::any_of(sources.begin(), sources.end(), [&](const extract::Source& source) {
    const auto branches = branches_around(all_.what.kernel, source.op);
    return std::any_of(branches.begin(), branches.end(),
                       [&](ir::OpId branch) { return all_.of_kernel.contains(branch); });
  });
}

/// Checks a product in a branch: its tiles must be awaited by the role and not yet released.
std::string RoleSteps::check_in_branch(const concurrent::Role& state, ir::OpId id) const {
  const auto operands = ir::mma_operands(all_.what.module.op(id));
  for (const ir::ValueId operand : {operands->a, operands->b}) {
    const auto at = spot(state, operand);
    const auto buffers = at ? all_.bindings.buffers_at(at->storage) : std::vector<plan::BufferId>();
    for (const auto& [channel, held] : held_) {
      const auto& guarded = plan_[channel].buffers;
      const bool guards = std::any_of(buffers.begin(), buffers.end(), [&](plan::BufferId buffer) {
        return std::find(guarded.begin(), guarded.end(), buffer) != guarded.end();
      });
      bool holds = !guards || held.waited == 0;
      for (std::int64_t filling = held.released; filling < held.waited; ++filling) {
        holds = holds || filling % plan_[channel].depth == at->slot;
      }
      if (!holds) {
        return "the role holds no copy of " + plan_[channel].name + " in slot " +
               std::to_string(at->slot) + " here";
      }
    }
  }
  return {};
}

/// Fillings of a channel that loops beside the planned loop used before the tile.
std::int64_t RoleSteps::used_beside(plan::ChannelId channel) const {
  const auto found = beside_before_.find(channel);
  return found == beside_before_.end() ? 0 : found->second;
}

/// Copies of a buffer that loops beside the planned loop used before the tile.
std::int64_t RoleSteps::used_beside(plan::BufferId buffer) const {
  for (const auto& [channel, used] : beside_before_) {
    const auto& guarded = plan_[channel].buffers;
    if (std::find(guarded.begin(), guarded.end(), buffer) != guarded.end()) return used;
  }
  return 0;
}

/// Checks a wait in a loop beside the planned loop: the wait must be for the next filling. The ring
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
  if (used > used_beside(bound->second) && is_for(next - 1)) return {};  // a repeated wait
  return "a loop beside the planned one comes to filling " + std::to_string(next) + " of " +
         channel.name + " here";
}

}  // namespace twill::run
