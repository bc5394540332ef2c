#include <algorithm>
#include <set>

#include "twill/device/role.h"
#include "twill/ir/operands.h"

/// Steps of a role for per-tile ops.
namespace twill::device {

using ir::OpKind;

namespace {

/// The parts of which one group has the rows that an operation works on. Of each value, as far as
/// ops of the plan make it, these are the parts of the group's makers.
std::set<int> parts_of_group(const Sketch& sketch, const std::vector<std::vector<OpId>>& values,
                             problem::GroupId group) {
  std::set<int> parts;
  for (int part = 0; part < sketch.parts(); ++part) {
    const bool has_all = std::all_of(values.begin(), values.end(), [&](const auto& makers) {
      return std::any_of(makers.begin(), makers.end(), [&](OpId maker) {
        const int its = sketch.origin(maker).part;
        return sketch.plan().schedule.ops[maker.index()].group == group && (its < 0 || its == part);
      });
    });
    if (has_all) parts.insert(part);
  }
  return parts;
}

}  // namespace

Result<void> RoleBuilder::compute_per_tile(std::size_t index) {
  const ir::OpId id = sketch_.per_tile_op(index);
  const ir::Op& op = sketch_.program().op(id);
  if (op.kind == OpKind::load || op.kind == OpKind::block_load) {
    for (const Rows rows : ordered_[id]) {
      if (!invariant_.contains({op.results.front(), rows, {}, nullptr})) {
        TWILL_TRY_VOID(again(id, rows, {}));
      }
    }
    return {};
  }
  if (memory_.boxes.contains(index)) {
    TWILL_TRY_VOID(stage_per_tile(index));
    emit(NodeKind::proxy_fence);
    arrive(memory_.boxes.at(index).full, {At::From::tile, 0}, "full");
    return {};
  }
  const auto& roles = sketch_.plan().kernel->per_tile_ops[index].roles;
  const bool leads = &sketch_.plan()[roles.front()] == role_;
  const bool acts =
      is_region(op) ? !may_be_again(sketch_.program(), id) : is_effect(sketch_.program(), id);
  if (!acts) return {};  // done where it is wanted
  if (ir::is_loop(op.kind)) return run_beside(id, leads);
  TWILL_TRY(const std::vector<int> parts, parts_held(id));
  return is_region(op) ? region_again(id, parts, {}, leads) : act(id, parts, {}, leads);
}

/// The parts of which the role has the rows that an operation works on. Each part must be some
/// group's: no other role could do it.
Result<std::vector<int>> RoleBuilder::parts_held(ir::OpId op) const {
  std::set<ir::ValueId> seen;
  std::vector<ir::ValueId> todo;
  for (const ir::OpId inner : ir::walk(sketch_.program(), op)) {
    const auto& operands = sketch_.program().op(inner).operands;
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
    } else if (!sketch_.makers_of(value).empty()) {
      values.push_back(sketch_.makers_of(value));
    } else if (const auto by = sketch_.definition(value)) {
      const auto& operands = sketch_.program().op(*by).operands;
      todo.insert(todo.end(), operands.begin(), operands.end());
    }
  }
  std::set<int> all, mine;
  for (std::size_t i = 0; i < sketch_.plan().problem.groups().size(); ++i) {
    const problem::GroupId group(i);
    const std::set<int> its = parts_of_group(sketch_, values, group);
    all.insert(its.begin(), its.end());
    const bool is_own = std::any_of(mine_.begin(), mine_.end(), [&](OpId it) {
      return sketch_.plan().schedule.ops[it.index()].group == group;
    });
    if (is_own || values.empty()) mine.insert(its.begin(), its.end());
  }
  if (static_cast<int>(all.size()) == sketch_.parts()) return std::vector(mine.begin(), mine.end());
  return sketch_.refuse(op, "works on tiles that different groups have",
                        "choose a pool in which one group works on the whole tile (--pool)");
}

/// Puts the rows that the role holds into the box that they are stored from.
Result<void> RoleBuilder::stage_per_tile(std::size_t index) {
  const Box& box = memory_.boxes.at(index);
  const auto access = *ir::memory_access(sketch_.program().op(box.store));
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
  if (box.after) {
    const Barriers& free = *memory_.boxes.at(*box.after).free;
    wait(free, {At::From::tile, 0}, box.of_last_tile, "free");
  }
  if (box.lay) wait(memory_.empty.at(*box.lay), {At::From::tile, 0}, false, "empty");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    emit(NodeKind::write, {tiles[i], rows_of(capture(box.value), {cut, parts[i]})});
  }
  return {};
}

Result<void> RoleBuilder::issue_per_tile(const plan::Step& step, At at) {
  const plan::PerTileOp& per_tile_op = sketch_.plan().kernel->per_tile_ops[*step.per_tile_op];
  if (per_tile_op.mechanism == plan::Mechanism::bulk_store) {
    emit(NodeKind::proxy_fence);
    arrive(memory_.boxes.at(*step.per_tile_op).full, at, "full");
    return {};
  }
  const auto invariant_buffer = memory_.invariant_buffers.find(*step.per_tile_op);
  if (per_tile_op.mechanism == plan::Mechanism::tma_load &&
      invariant_buffer != memory_.invariant_buffers.end()) {
    const auto load = sketch_.definition(invariant_buffer->second);
    return load_box(*load, memory_.rings.at(per_tile_op.buffers.front()), step, at);
  }
  if (per_tile_op.mechanism == plan::Mechanism::cp_async &&
      invariant_buffer != memory_.invariant_buffers.end()) {
    const auto load = sketch_.definition(invariant_buffer->second);
    return copy_by_threads(*load, memory_.rings.at(per_tile_op.buffers.front()), step, at);
  }
  return sketch_.refuse(sketch_.per_tile_op(*step.per_tile_op),
                        "is done by " + std::string(plan::name_of(per_tile_op.mechanism)) +
                            " around the loop, which is not printed as TTGIR yet");
}

/// One warp stores what all others have put into boxes, in the order of the program.
Result<Block> RoleBuilder::build_stores() {
  return in_passes([&]() -> Result<void> {
    TWILL_TRY_VOID(tiles([&] { return store_boxes(); }));
    now_ = &behind_;
    emit(NodeKind::wait_stores, {}, {}, {0});
    return {};
  });
}

Result<void> RoleBuilder::store_boxes() {
  now_ = &behind_;
  behind_loop_ = true;
  for (const auto& [index, box] : memory_.boxes) {
    wait(box.full, {At::From::tile, 0}, false, "full");
    TWILL_TRY_VOID(send_box(box.store, capture(box.value), {}));
    if (box.free) {
      emit(NodeKind::wait_stores, {}, {}, {0});
      arrive(*box.free, {At::From::tile, 0}, "free");
    }
  }
  return {};
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

/// The kernel ends early, perhaps after effects. Nodes behind stand in another block, which what is
/// in front dominates.
Result<void> RoleBuilder::leave_early(const ir::Exit& exit) {
  const ir::Program& program = sketch_.program();
  Node node{NodeKind::leave, {}, {}, {exit.when ? 1 : 0}};
  TWILL_TRY(node.operands.emplace_back(), want_scalar(exit.condition));
  node.blocks.resize(1);
  if (exit.acts) {
    for (const ir::OpId op : program.block(*exit.acts).ops) {
      if (!is_effect(program, op) && !is_pure(program, op) && program.op(op).kind != OpKind::ret) {
        return sketch_.refuse(op,
                              "is done where the function ends early, which is not printed yet");
      }
      if (!is_effect(program, op)) continue;
      Nodes* const outer = now_;
      now_ = &node.blocks[0].nodes;  // operands, which are pure, stand in front
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
    } else if (sketch_.program().op(op).kind == OpKind::make_descriptor) {
      TWILL_TRY_VOID(make_descriptor(op));
    } else {
      TWILL_TRY_VOID(clone(op, {}, {}));
    }
  }
  for (const auto& [key, value] : invariant_) {
    const ir::ValueId made = std::get<ir::ValueId>(key);
    if (is_pure(sketch_.program(), *sketch_.definition(made))) continue;
    if (!is_tile(type_of(value))) kept.emplace(made, value);
  }
  return all_nodes();
}

Result<std::vector<Node>> RoleBuilder::build_back() {
  begin_pass();
  now_ = &behind_;
  behind_loop_ = true;
  for (const ir::OpId op : sketch_.back()) {
    TWILL_TRY_VOID(clone(op, {}, {}));
  }
  return all_nodes();
}

}  // namespace twill::device
