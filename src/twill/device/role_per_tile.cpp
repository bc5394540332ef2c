#include <algorithm>
#include <set>
#include <utility>

#include "twill/device/role.h"
#include "twill/dialect/register_layouts.h"
#include "twill/ir/operands.h"

/// Steps of a role for per-tile ops.
namespace twill::device {

using ir::OpKind;

Result<void> RoleBuilder::compute_per_tile(std::size_t index) {
  const ir::OpId id = sketch_.per_tile_op(index);
  const ir::Op& op = program_.op(id);
  if (op.kind == OpKind::load || op.kind == OpKind::block_load) {
    Nodes* const outer = now_;
    if (const auto level = sketch_.level_of(id)) now_ = nodes_at(*level, now_);
    for (const Rows rows : ordered_[id]) {
      if (!is_known({{op.results.front(), rows}})) {
        TWILL_TRY_VOID(again(id, rows, {}));
      }
    }
    now_ = outer;
    return {};
  }
  const plan::PerTileOp& per_tile_op = plan_.kernel->per_tile_ops[index];
  if (per_tile_op.alone) return act_alone(id);
  const auto& roles = per_tile_op.roles;
  const bool leads = &plan_[roles.front()] == role_;
  const bool acts = is_region(op) ? !only_reads(program_, id) : is_effect(program_, id);
  if (!acts) return {};  // done where its value is wanted
  TWILL_TRY(const std::vector<int> parts, parts_held(id));
  if (ir::is_loop(op.kind)) {
    const std::vector<Thing> rings = rings_of(id);
    return loop_again(id, parts, rings.empty() ? At{} : kBeside, leads, rings);
  }
  return is_region(op) ? region_again(id, parts, {}, leads) : act(id, parts, {}, leads);
}

/// Does an effect once for all roles. Its warps have finished all earlier steps, and begin no later
/// step; the channels around the effect order the other roles.
Result<void> RoleBuilder::act_alone(ir::OpId id) {
  const ir::Op& op = program_.op(id);
  if (warps_ > 1) emit(NodeKind::meet);
  if (op.kind == OpKind::synchronize) return {};
  TWILL_TRY_VOID(is_region(op) ? region_again(id, {0}, {}, true) : act(id, {0}, {}, true));
  if (warps_ > 1) emit(NodeKind::meet);
  return {};
}

/// The parts of an operation whose rows the role holds. Some group must hold each part: no other
/// role could do that part.
Result<std::vector<int>> RoleBuilder::parts_held(ir::OpId op) const {
  std::set<ir::ValueId> seen;
  std::vector<ir::ValueId> todo;
  for (const ir::OpId inner : ir::walk(program_, op)) {
    const auto& operands = program_.op(inner).operands;
    todo.insert(todo.end(), operands.begin(), operands.end());
  }
  std::vector<std::vector<OpId>> values;
  while (!todo.empty()) {
    const ir::ValueId value = sketch_.behind_relayouts(todo.back());
    todo.pop_back();
    if (!sketch_.depends(value) || !seen.insert(value).second) continue;
    if (const ir::Carried* carried = sketch_.carried_argument(value)) {
      todo.push_back(carried->yielded);
    } else if (const ir::Carried* left = sketch_.carried_result(value)) {
      todo.push_back(left->yielded);
    } else if (const ir::Carried* passed = sketch_.carried_around(value)) {
      todo.push_back(passed->yielded);
    } else if (!sketch_.makers_of(value).empty()) {
      values.push_back(sketch_.makers_of(value));
    } else if (const auto by = sketch_.definition(value)) {
      const auto& operands = program_.op(*by).operands;
      todo.insert(todo.end(), operands.begin(), operands.end());
    }
  }
  bool all = true;
  std::vector<int> mine;
  for (int part = 0; part < sketch_.parts(); ++part) {
    const auto holds = [&](problem::GroupId group) {
      return std::all_of(values.begin(), values.end(), [&](const std::vector<OpId>& makers) {
        return std::any_of(makers.begin(), makers.end(), [&](OpId maker) {
          const int its = sketch_.origin(maker).part;
          return plan_.schedule.ops[maker.index()].group == group && (its < 0 || its == part);
        });
      });
    };
    bool any = false;
    for (std::size_t i = 0; i < plan_.problem.groups().size(); ++i) {
      any = any || holds(problem::GroupId(i));
    }
    all = all && any;
    if (holds(role_->group)) mine.push_back(part);
  }
  if (all) return mine;
  return sketch_.refuse(op, "works on tiles that different groups have",
                        "choose a pool in which one group works on the whole tile (--pool)");
}

ir::Type RoleBuilder::brief_type(const Brief& one) const {
  const ir::Type type = kernel_[one.value].type;
  return sketch_.types().tensor(type->shape, type->element,
                                dialect::single_layout(sketch_.types(), warps_));
}

/// Tells other roles that a step is done, and sends them its scalars.
Result<void> RoleBuilder::commit(plan::ChannelId channel, At at) {
  const auto found = memory_.briefs.find(channel);
  if (found != memory_.briefs.end()) {
    for (const Brief& one : found->second) {
      TWILL_TRY(const ValueId value, want_scalar(one.what));
      const ValueId tile = make(NodeKind::spread, {value}, "brief", brief_type(one));
      emit(NodeKind::write, {tile, capture(one.value)});
    }
  }
  if (memory_.full.at(channel).single) emit(NodeKind::proxy_fence);
  arrive(memory_.full.at(channel), at, "full");
  return {};
}

/// Waits until the place that a channel guards is free. In a tile's only use of a place it is
/// always free. The wait for a box comes once its tile is made.
void RoleBuilder::acquire(const plan::Step& step, At at) {
  const bool tile = at.from == At::From::tile;
  const bool for_box = tile && (at.offset == 1 || memory_.full.at(*step.channel).single);
  if (for_box) {
    for_box_.push_back(&step);
  } else if (!tile || sketch_.walks()) {
    wait(memory_.empty.at(*step.channel), at, true, "empty");
  }
}

/// Takes the scalars that a channel has brought.
void RoleBuilder::learn(plan::ChannelId channel) {
  const auto found = memory_.briefs.find(channel);
  if (found == memory_.briefs.end()) return;
  for (const Brief& one : found->second) {
    const ValueId tile = make(NodeKind::read, {capture(one.value)}, "brief", brief_type(one));
    const std::string& name = program_.value(one.what).name;
    enter(one.what, {}, {}, make(NodeKind::only, {tile}, name, type_of(tile)->element));
  }
}

/// Puts the rows that the role holds into the box from which they are stored.
Result<void> RoleBuilder::stage_per_tile(std::size_t index) {
  const Box& box = memory_.boxes.at(index);
  const auto access = *ir::memory_access(program_.op(box.store));
  const ir::ValueId tile = sketch_.behind_relayouts(*access.source);
  const int cut = sketch_.cut_of(tile);
  std::vector<int> parts = {-1};
  if (cut >= 0) {
    TWILL_TRY(parts, parts_held(box.store));
  }
  std::vector<ValueId> tiles;
  for (const int part : parts) {
    TWILL_TRY(tiles.emplace_back(), want(tile, {cut, part}, {}));
  }
  for (const plan::Step* const step : std::exchange(for_box_, {})) {
    const bool of_last_tile = step->instance.offset == 0;
    wait(memory_.empty.at(*step->channel), {At::From::tile, 0}, of_last_tile, "empty");
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    emit(NodeKind::write, {tiles[i], rows_of(capture(box.value), {cut, parts[i]})});
  }
  return {};
}

Result<void> RoleBuilder::issue_per_tile(const plan::Step& step, At at) {
  const std::size_t index = *step.per_tile_op;
  const plan::PerTileOp& op = plan_.kernel->per_tile_ops[index];
  if (op.mechanism == plan::Mechanism::bulk_store) {
    const Box& box = memory_.boxes.at(index);
    return send_box(box.store, capture(box.value), {});
  }
  if (!op.loads.empty()) {
    const ir::OpId loop = sketch_.per_tile_op(index);
    return loop_again(loop, {}, kBeside, false, rings_of(loop));
  }
  const auto loaded = memory_.invariant_buffers.find(index);
  if (loaded != memory_.invariant_buffers.end()) {
    const bool by_threads = op.mechanism == plan::Mechanism::cp_async;
    return bring(*sketch_.definition(loaded->second), op.mechanism, op.buffers.front(),
                 *step.channel, at, by_threads ? "kept" : "box");
  }
  return sketch_.refuse(sketch_.per_tile_op(index),
                        "is done by " + std::string(plan::name_of(op.mechanism)) +
                            " around the loop, which is not printed as TTGIR yet");
}

std::vector<Node> RoleBuilder::all_nodes() {
  std::vector<Node> all;
  std::vector<Nodes*> lists = {&head_, &before_, &middle_, &behind_};
  for (Nodes& nodes : around_) lists.insert(lists.end() - 3, &nodes);
  for (Nodes* nodes : lists) {
    std::move(nodes->begin(), nodes->end(), std::back_inserter(all));
    nodes->clear();
  }
  return all;
}

/// Ends the kernel early, perhaps after effects. Later nodes stand in another block, which the
/// present block dominates.
Result<void> RoleBuilder::leave_early(const ir::Exit& exit) {
  Node node{NodeKind::leave, {}, {}, {exit.when ? 1 : 0}};
  TWILL_TRY(node.operands.emplace_back(), want_scalar(exit.condition));
  node.blocks.resize(1);
  if (exit.acts) {
    for (const ir::OpId op : program_.block(*exit.acts).ops) {
      if (!is_effect(program_, op) && !is_pure(program_, op) &&
          program_.op(op).kind != OpKind::ret) {
        return sketch_.refuse(op,
                              "is done where the function ends early, which is not printed yet");
      }
      if (!is_effect(program_, op)) continue;
      Nodes* const outer = now_;
      now_ = &node.blocks[0].nodes;  // operands are pure, and stand in front
      TWILL_TRY_VOID(act(op, {0}, {}, true));
      now_ = outer;
    }
  }
  now_->push_back(std::move(node));
  return {};
}

Result<std::vector<Node>> RoleBuilder::build_front(std::map<ir::ValueId, ValueId>& kept) {
  begin_pass();
  std::vector<std::pair<ir::OpId, const ir::Exit*>> in_order;
  for (const ir::OpId op : sketch_.front()) in_order.emplace_back(op, nullptr);
  for (const ir::Exit& exit : sketch_.exits()) in_order.emplace_back(exit.branch, &exit);
  for (const ir::OpId op : sketch_.descriptors()) in_order.emplace_back(op, nullptr);
  std::sort(in_order.begin(), in_order.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [op, exit] : in_order) {
    if (exit != nullptr) {
      TWILL_TRY_VOID(leave_early(*exit));
    } else if (program_.op(op).kind == OpKind::make_descriptor) {
      TWILL_TRY_VOID(make_descriptor(op));
    } else if (is_region(program_.op(op))) {
      TWILL_TRY_VOID(region_again(op, {0}, {}, true));
    } else {
      TWILL_TRY_VOID(clone(op, {}, {}));
    }
  }
  for (const auto& [key, value] : made_) {
    const ir::ValueId made = key.thing.value;
    if (is_pure(program_, *sketch_.definition(made))) continue;
    if (!is_tile(type_of(value))) kept.emplace(made, value);
  }
  return all_nodes();
}

Result<std::vector<Node>> RoleBuilder::build_back() {
  begin_pass();
  now_ = &behind_;
  behind_loop_ = true;
  for (const ir::OpId op : sketch_.back()) {
    if (program_.op(op).kind == OpKind::synchronize) {
      emit(NodeKind::meet);
    } else if (is_region(program_.op(op))) {
      TWILL_TRY_VOID(region_again(op, {0}, {}, true));
    } else {
      TWILL_TRY_VOID(clone(op, {}, {}));
    }
  }
  return all_nodes();
}

}  // namespace twill::device
