#include <algorithm>

#include "twill/device/role.h"

/// Operations with regions, repeated with all their contents: branches, and loops beside the
/// planned loop. In regions a role follows the order of the program, and waits for products at
/// once.
namespace twill::device {

using ir::OpKind;

bool RoleBuilder::in_open_region(ir::OpId op) const {
  for (auto at = ir::parent(program_, op); at; at = ir::parent(program_, *at)) {
    if (std::find(regions_.begin(), regions_.end(), *at) != regions_.end()) return true;
  }
  return false;
}

/// A value that an open region computes.
RoleBuilder::Want RoleBuilder::in_region(ir::ValueId value, ir::OpId id, Rows rows, At at,
                                         ir::Type type) {
  if (const auto ring = sketch_.ring_of(value)) {
    TWILL_TRY(const ValueId one, brought(*ring));
    TWILL_TRY(const ValueId tile, read(value, rows_of(one, rows), rows, type));
    return made_[{{value, rows}, kRegion}] = tile;
  }
  if (sketch_.copy_of(value)) return taken(value, rows, at, type);
  if (is_remade(id, value, rows, type)) return clone(id, rows, at, type);
  TWILL_TRY_VOID(again(id, rows, at));
  return relayout(made_.at({{value, rows}, kRegion}), type);
}

/// Repeats an operation, and waits until it is done. Enters its results.
Result<void> RoleBuilder::again(ir::OpId id, Rows rows, At at) {
  const ir::Op& op = program_.op(id);
  if (op.kind == OpKind::wgmma) return product_again(id, rows, at);
  if (op.kind == OpKind::block_load) return fetch(id, rows, at);
  if (is_region(op)) return region_again(id, {std::max(0, rows.part)}, at, false);
  const bool harmless = is_pure(program_, id) || op.kind == OpKind::load || op.kind == OpKind::mma;
  if (!harmless) return sketch_.refuse(id, "is wanted here, which is not printed as TTGIR yet");
  TWILL_TRY_VOID(clone(id, rows, at));
  return {};
}

/// Begins a product, and waits for it.
Result<void> RoleBuilder::product_again(ir::OpId id, Rows rows, At at) {
  const auto operands = *ir::mma_operands(program_.op(id));
  const ir::ValueId result = *operands.result;
  if (sketch_.cut_of(operands.a) == 1 || sketch_.cut_of(operands.b) == 0) {
    return sketch_.refuse(id, "adds up what several groups hold",
                          "choose a pool in which one group works on the whole tile (--pool)");
  }
  const std::string& name = program_.value(result).name;
  TWILL_TRY(const ValueId begun, begin_product(id, rows, at, name, [&]() -> Want {
              if (operands.use_accumulator) return want(*operands.use_accumulator, {}, at);
              const bool zero = ir::constant_number(program_, operands.accumulator) == 0.0;
              return constant(zero ? 0 : 1, sketch_.i1());
            }));
  const ValueId done = add_value(name, type_of(begun));
  emit(NodeKind::wait_products, {begun}, {done}, {0});
  enter(result, rows, at, done);
  return {};
}

/// Loads a whole box that no ring brings, and waits for it.
Result<void> RoleBuilder::fetch(ir::OpId id, Rows rows, At at) {
  TWILL_TRY(const ir::Type type, sketch_.memory_type(id));
  const ir::ValueId value = program_.op(id).results.front();
  TWILL_TRY(std::vector<ValueId> operands, place_of(id, at));
  const std::string& name = program_.value(value).name;
  const ValueId buffer = make(NodeKind::allocate, {}, name, type);
  const ValueId barrier = make(NodeKind::allocate, {}, name + "_full", sketch_.barriers(0));
  const ValueId yes = constant(1, sketch_.i1());
  emit(NodeKind::init_barrier, {barrier}, {}, {1});
  emit(NodeKind::proxy_fence);
  emit(NodeKind::expect, {barrier, yes}, {}, {ir::byte_size(type)});
  operands.insert(operands.end(), {barrier, buffer, yes});
  emit(NodeKind::load_box, std::move(operands)).source = id;
  emit(NodeKind::wait, {barrier, number(0)});
  emit(NodeKind::end_barrier, {barrier});
  TWILL_TRY(const ValueId tile, read(value, rows_of(buffer, rows), rows, nullptr));
  enter(value, rows, at, tile);
  return {};
}

/// Puts a tile into shared memory of the role.
RoleBuilder::Want RoleBuilder::put_down(ir::OpId allocation, Rows rows, At at) {
  const ir::Op& op = program_.op(allocation);
  TWILL_TRY(const ValueId tile, want(op.operands.front(), rows, at));
  TWILL_TRY(const ir::Type type, own_type(op.results.front(), rows));
  const ValueId buffer = make(NodeKind::allocate, {}, program_.value(op.results[0]).name,
                              sketch_.buffer(type->shape, type->element, type->encoding));
  emit(NodeKind::write, {tile, buffer});
  emit(NodeKind::proxy_fence);
  return buffer;
}

/// Where ops of a level stand: in a loop over tiles around the planned one, or `innermost`.
Nodes* RoleBuilder::nodes_at(std::size_t level, Nodes* innermost) {
  return level < sketch_.around().size() ? &around_[level] : innermost;
}

/// Puts a tile into shared memory once for all iterations, in front of the loop. Behind the loop
/// the tile is put there, unless the loop has already done so.
RoleBuilder::Want RoleBuilder::put_in_front(ir::OpId allocation, Rows rows) {
  const Key key{{program_.op(allocation).results.front(), rows}, {}};
  const auto known = made_.find(key);
  if (known != made_.end()) return known->second;
  const auto level = sketch_.level_of(allocation);
  if (behind_loop_ || !level) return put_down(allocation, rows, {});
  Nodes* const outer = now_;
  now_ = nodes_at(*level, front_ != nullptr ? front_ : &before_);
  TWILL_TRY(const ValueId buffer, put_down(allocation, rows, {}));
  now_ = outer;
  return made_[key] = buffer;
}

/// Whether the ops of the plan that write a tile stand for parts of a branch. A branch is done as a
/// whole: at their own steps these ops have no effect.
bool RoleBuilder::is_of_branch(ir::ValueId value) const {
  for (const auto& [op, buffer] : sketch_.places_of(value)) {
    for (const extract::Source& source : sketch_.origin(op).sources) {
      const Unit* const unit = sketch_.unit_of(source.op);
      if (unit != nullptr && !unit->follows) return true;
    }
  }
  return false;
}

/// Puts a tile of a branch that is done as a whole at its place in the plan, for a later product.
Result<void> RoleBuilder::put_in_place(ir::OpId allocation, ValueId buffer, Rows rows, At at) {
  const ir::Op& op = program_.op(allocation);
  if (sketch_.parts() > 1 && rows.part < 0) {
    return sketch_.refuse(allocation, "puts a tile into shared memory, in a branch, for all groups",
                          "choose a pool in which one group works on the whole tile (--pool)");
  }
  TWILL_TRY(const ValueId tile, want(op.operands.front(), rows, at));
  emit(NodeKind::write, {tile, buffer});
  emit(NodeKind::proxy_fence);
  return {};
}

/// Stores a box at once, from shared memory of the role.
Result<void> RoleBuilder::store_again(ir::OpId id, At at) {
  const auto access = *ir::memory_access(program_.op(id));
  TWILL_TRY(const ir::Type type, sketch_.box_type(id));
  TWILL_TRY(const ValueId value, want(*access.source, {}, at));
  const ValueId buffer = make(NodeKind::allocate, {}, "box", type);
  emit(NodeKind::write, {value, buffer});
  emit(NodeKind::proxy_fence);
  TWILL_TRY_VOID(send_box(id, buffer, at));
  emit(NodeKind::wait_stores, {}, {}, {0});
  return {};
}

/// Does an effect that others can see. An effect on a cut value is done for the rows of `parts`; an
/// effect on a whole value only in the role that leads.
Result<void> RoleBuilder::act(ir::OpId id, const std::vector<int>& parts, At at, bool leads) {
  const ir::Op& op = program_.op(id);
  const int cut = cut_of_operands(id);
  if (op.kind == OpKind::block_store || op.kind == OpKind::block_update) {
    if (cut >= 0) return sketch_.refuse(id, "stores a box whose rows several groups have");
    return leads ? store_again(id, at) : Result<void>();
  }
  const ir::OpClass of = ir::class_of(op.kind);
  if (of == ir::OpClass::synchronization || of == ir::OpClass::copy || op.kind == OpKind::call) {
    return sketch_.refuse(id, "is an effect that is not printed as TTGIR here yet");
  }
  if (cut < 0) {
    if (leads) {
      TWILL_TRY_VOID(clone(id, {}, at));
    }
    return {};
  }
  for (const int part : parts) {
    TWILL_TRY_VOID(clone(id, {cut, part}, at));
  }
  return {};
}

/// Does the operations of a block, in the order of the program.
Result<void> RoleBuilder::in_order(ir::BlockId block, const std::vector<int>& parts, At at,
                                   bool leads) {
  for (const ir::OpId id : program_.block(block).ops) {
    const ir::Op& op = program_.op(id);
    const bool ends = op.kind == OpKind::yield || op.kind == OpKind::condition;
    if (ends || op.kind == OpKind::relayout) continue;
    if (is_effect(program_, id)) {
      TWILL_TRY_VOID(act(id, parts, at, leads));
      continue;
    }
    if (is_region(op)) {
      if (!is_pure(program_, id)) {
        TWILL_TRY_VOID(region_again(id, parts, at, leads));
      }
      continue;
    }
    const bool loads = ir::class_of(op.kind) == ir::OpClass::load;
    for (const ir::ValueId result : op.results) {
      const bool works = sketch_.depends(result) && is_tile(ir::type_of(program_, result));
      if (sketch_.ring_of(result) || sketch_.copy_of(result) || (!works && !loads)) continue;
      if (ringed_ && !wanted_.contains(result)) continue;
      for (const Rows rows : rows_in(result, parts)) {
        TWILL_TRY_VOID(want(result, rows, at));
      }
    }
  }
  return {};
}

Result<void> RoleBuilder::region_again(ir::OpId id, const std::vector<int>& parts, At at,
                                       bool leads) {
  const ir::Op& op = program_.op(id);
  if (ringed_) {  // a wait in a region holds for all loads
    TWILL_TRY_VOID(await_all());
  }
  if (op.kind == OpKind::branch) return branch_again(id, parts, at, leads);
  if (ir::is_loop(op.kind)) return loop_again(id, parts, at, leads);
  return sketch_.refuse(id, "is not printed as TTGIR here yet");
}

Result<void> RoleBuilder::branch_again(ir::OpId id, const std::vector<int>& parts, At at,
                                       bool leads) {
  const ir::Op& op = program_.op(id);
  Node node{NodeKind::branch};
  TWILL_TRY(node.operands.emplace_back(), want(op.operands.front(), {}, at));
  struct Given {
    std::size_t index;
    Rows rows;
    ir::Type type;
  };
  std::vector<Given> given;
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    for (const Rows rows : rows_in(op.results[i], parts)) {
      TWILL_TRY(const ir::Type type, own_type(op.results[i], rows));
      given.push_back({i, rows, type});
      node.results.push_back(add_value(program_.value(op.results[i]).name, type));
    }
  }
  node.blocks.resize(2);
  for (std::size_t side = 0; side < 2; ++side) {
    const auto block = ir::body(program_, id, side);
    if (!block) continue;
    const Inside inside(*this, id, node.blocks[side].nodes);
    TWILL_TRY_VOID(in_order(*block, parts, at, leads));
    const auto end = ir::terminator(program_, *block);
    for (const Given& one : given) {
      TWILL_TRY(node.blocks[side].yields.emplace_back(),
                want(program_.op(*end).operands[one.index], one.rows, at, one.type));
    }
  }
  const std::vector<ValueId> results = node.results;
  now_->push_back(std::move(node));
  for (std::size_t i = 0; i < given.size(); ++i) {
    enter(op.results[given[i].index], given[i].rows, at, results[i]);
  }
  return {};
}

/// Begins a loop on scalars that ends by a condition, with its test.
Result<Node> RoleBuilder::begin_repeat(const ir::Loop& loop, At at, bool leads) {
  Node node{NodeKind::repeat};
  node.blocks.resize(2);
  Block &test = node.blocks[0], &body = node.blocks[1];
  const auto add = [&](std::vector<ValueId>& to, ir::ValueId like) {
    return to.emplace_back(add_value(program_.value(like).name, ir::type_of(program_, like)));
  };
  for (const ir::Carried& carried : loop.carried) {
    if (sketch_.depends(carried.argument) || is_tile(ir::type_of(program_, carried.init))) {
      return sketch_.refuse(loop.op, "is no counting loop, and carries tiles");
    }
    TWILL_TRY(node.operands.emplace_back(), want(carried.init, {}, at));
  }
  const Inside inside(*this, loop.op, test.nodes);
  for (const ir::Carried& carried : loop.carried) {
    made_[{carried.argument, kRegion}] = add(test.arguments, carried.argument);
  }
  TWILL_TRY_VOID(in_order(*loop.before, {0}, at, leads));
  const ir::OpId end = *ir::terminator(program_, *loop.before);
  TWILL_TRY(test.yields.emplace_back(), want(program_.op(end).operands.front(), {}, at));
  for (const ir::Forwarded& forwarded : loop.forwarded) {
    TWILL_TRY(test.yields.emplace_back(), want(forwarded.passed, {}, at));
    add(body.arguments, forwarded.argument);
    add(node.results, forwarded.argument);
  }
  return node;
}

/// Begins a loop of the text: its bounds or its test, and the values that it carries.
Result<Node> RoleBuilder::begin_loop(const ir::Loop& loop, const std::vector<Passed>& passed,
                                     const std::string& counter, At at, bool leads) {
  if (!loop.induction) return begin_repeat(loop, at, leads);
  Node node{NodeKind::loop};
  for (const ir::ValueId bound : {*loop.lower, *loop.upper, *loop.step}) {
    TWILL_TRY(node.operands.emplace_back(), want(bound, {}, at));
  }
  node.blocks.resize(1);
  const ir::Type type = ir::type_of(program_, *loop.induction);
  node.blocks.front().arguments.push_back(add_value(counter, type));
  for (const Passed& one : passed) {
    TWILL_TRY(const ValueId first, want(one.what.init, one.rows, at, one.type));
    carry(node, program_.value(one.what.argument).name, one.type, first);
  }
  return node;
}

/// Enters the values that the body of a loop gets, as values of the point `in`.
void RoleBuilder::enter_body(const ir::Loop& loop, const std::vector<Passed>& passed,
                             const Block& body, At in) {
  auto argument = body.arguments.begin();
  for (const ir::Forwarded& it : loop.forwarded) made_[{it.argument, in}] = *argument++;
  if (!loop.induction) return;
  made_[{*loop.induction, in}] = *argument++;
  for (const Passed& one : passed) made_[{{one.what.argument, one.rows}, in}] = *argument++;
}

/// Enters the results of a loop.
void RoleBuilder::enter_results(const ir::Loop& loop, const std::vector<Passed>& passed,
                                const std::vector<ValueId>& results, At at) {
  auto result = results.begin();
  for (const ir::Forwarded& it : loop.forwarded) enter(it.result, {}, at, *result++);
  for (std::size_t i = 0; i < passed.size() && loop.induction; ++i, ++result) {
    if (passed[i].what.result) enter(*passed[i].what.result, passed[i].rows, at, *result);
  }
}

Result<void> RoleBuilder::yield(const std::vector<Passed>& passed, At at, Block& body) {
  for (const Passed& one : passed) {
    TWILL_TRY(body.yields.emplace_back(), want(one.what.yielded, one.rows, at, one.type));
  }
  return {};
}

/// Repeats a loop. For a loop with loads through rings (`rings`), and without parts, only begins
/// the loads.
Result<void> RoleBuilder::loop_again(ir::OpId id, const std::vector<int>& parts, At at, bool leads,
                                     const std::vector<Thing>& rings) {
  const ir::Loop loop = *ir::as_loop(program_, id);
  const bool ringed = !rings.empty(), only_loads = parts.empty();
  std::set<ir::ValueId> wanted;
  if (ringed) wanted = only_loads ? sketch_.made_for_loads(loop) : sketch_.made_for_others(loop);
  TWILL_TRY(const std::vector<Passed> passed, passed_by(id, parts, ringed ? &wanted : nullptr));
  const std::string counter = loop.induction ? program_.value(*loop.induction).name : "";
  TWILL_TRY(Node node, begin_loop(loop, passed, counter, at, leads));
  Block& body = node.blocks.back();
  TWILL_TRY_VOID(find_positions(rings));
  const auto behind = carry_positions(rings, kBeside, "", node);
  const bool outermost = front_ == nullptr && sketch_.where(id) != Where::loop;
  if (outermost) front_ = now_;
  {
    const Inside inside(*this, id, body.nodes);
    enter_body(loop, passed, body, kRegion);
    if (ringed) {
      ringed_ = id;
      wanted_ = std::move(wanted);
      waited_.clear();
      fenced_.clear();
    }
    if (only_loads) {
      TWILL_TRY_VOID(bring_all(id));
    } else {
      TWILL_TRY_VOID(in_order(loop.body, parts, at, leads));
    }
    TWILL_TRY_VOID(yield(passed, at, body));
    if (ringed && !only_loads) {
      TWILL_TRY_VOID(await_all());
      for (const plan::ChannelId channel : waited_) {
        if (memory_.empty.contains(channel)) arrive(memory_.empty.at(channel), kBeside, "empty");
      }
    }
    yield_positions(rings, kBeside, true, body);
  }
  if (outermost) front_ = nullptr;
  if (ringed) ringed_.reset();
  for (const auto& [key, value] : behind) made_[key] = value;
  const std::vector<ValueId> results = node.results;
  now_->push_back(std::move(node));
  enter_results(loop, passed, results, at);
  return {};
}

}  // namespace twill::device
