#include <algorithm>

#include "twill/device/role.h"
#include "twill/ir/operands.h"

/// Loops beside the planned one: in program order, products waited for at once.
namespace twill::device {

namespace {

constexpr At kBeside{At::From::beside, 0};

}  // namespace

/// The copy of a ring that the iteration at hand reads, once it is there.
Result<ValueId> RoleBuilder::brought(OpId copy) {
  TWILL_TRY(const plan::ChannelId channel, sketch_.channel_of(copy));
  if (waited_.insert(channel).second) wait(memory_.full.at(channel), kBeside, false, "full");
  const plan::BufferId home = *sketch_.plan().values[copy.index()].home;
  return this->copy(memory_.rings.at(home), kBeside, sketch_.plan().problem[copy].name);
}

RoleBuilder::Want RoleBuilder::in_beside(ir::ValueId value, ir::OpId id, Rows rows, ir::Type type) {
  const ir::Op& op = sketch_.program().op(id);
  if (const auto ring = sketch_.ring_of(value)) {
    TWILL_TRY(const ValueId one, brought(*ring));
    TWILL_TRY(const ValueId tile, read(value, rows_of(one, rows), rows, type));
    return beside_[{value, rows}] = tile;
  }
  if (is_remade(id, value, rows, type)) return clone(id, rows, kBeside, type);
  if (op.kind == ir::OpKind::wgmma) {
    TWILL_TRY(const ValueId tile, product_beside(id, rows));
    return relayout(tile, type);
  }
  if (!is_pure(sketch_.program(), id) && op.kind != ir::OpKind::load) {
    return sketch_.refuse(id, "in a loop beside the planned one is not printed as TTGIR yet");
  }
  TWILL_TRY_VOID(clone(id, rows, kBeside));
  return relayout(beside_.at({value, rows}), type);
}

RoleBuilder::Want RoleBuilder::product_beside(ir::OpId id, Rows rows) {
  const auto operands = *ir::mma_operands(sketch_.program().op(id));
  const ir::ValueId result = *operands.result;
  const ir::ValueId inputs[] = {operands.a, operands.b, operands.accumulator};
  const int cuts[] = {rows.cut == 0 ? 0 : -1, rows.cut == 1 ? 1 : -1, rows.cut};
  std::vector<ValueId> values;
  for (int i = 0; i < 3; ++i) {
    TWILL_TRY(values.emplace_back(), want(inputs[i], {cuts[i], rows.part}, kBeside));
  }
  const bool zero = ir::constant_number(sketch_.program(), operands.accumulator) == 0.0;
  values.push_back(constant(zero ? 0 : 1, sketch_.i1()));
  TWILL_TRY(const ir::Type type, own_type(result, rows));
  const std::string& name = sketch_.program().value(result).name;
  const ValueId begun = add_value(name, type), done = add_value(name, type);
  emit(NodeKind::product, std::move(values), {begun}).source = id;
  emit(NodeKind::wait_products, {begun}, {done}, {0});
  return beside_[{result, rows}] = done;
}

/// Values that the loop carries, in the rows that the role holds.
Result<std::vector<RoleBuilder::Passed>> RoleBuilder::passed_by(ir::OpId id,
                                                                const std::vector<int>& parts) {
  std::vector<Passed> passed;
  const auto loop = ir::as_loop(sketch_.program(), id);
  for (const ir::Carried& carried : loop->carried) {
    if (parts.empty() && sketch_.depends(carried.argument)) continue;  // of who only loads
    const int cut = sketch_.cut_of(carried.argument);
    for (const int part : cut < 0 ? std::vector<int>{-1} : parts) {
      TWILL_TRY(const ir::Type type, own_type(carried.argument, {cut, part}));
      passed.push_back({carried, cut < 0 ? Rows{} : Rows{cut, part}, type});
    }
  }
  return passed;
}

/// Starts the loads of an iteration, each once its buffer is free.
Result<void> RoleBuilder::bring(ir::OpId loop) {
  std::set<plan::ChannelId> acquired;
  for (const ir::OpId load : sketch_.loads_of(loop)) {
    const OpId copy = *sketch_.ring_of(sketch_.program().op(load).results.front());
    TWILL_TRY(const plan::ChannelId channel, sketch_.channel_of(copy));
    if (acquired.insert(channel).second) {
      if (memory_.empty.contains(channel)) wait(memory_.empty.at(channel), kBeside, true, "empty");
      emit(NodeKind::expect,
           {barrier(memory_.full.at(channel), kBeside, "full"), constant(1, sketch_.i1())}, {},
           {sketch_.plan()[channel].bytes});
    }
    plan::Step step;
    step.kind = plan::StepKind::issue;
    step.op = copy;
    step.channel = channel;
    const plan::BufferId home = *sketch_.plan().values[copy.index()].home;
    TWILL_TRY_VOID(load_box(load, memory_.rings.at(home), step, kBeside));
  }
  return {};
}

/// Does what an iteration computes, in the order of the program.
Result<void> RoleBuilder::work(ir::OpId loop, const std::vector<int>& parts) {
  waited_.clear();
  for (const ir::OpId id : sketch_.program().block(*ir::body(sketch_.program(), loop)).ops) {
    const ir::Op& op = sketch_.program().op(id);
    if (is_effect(sketch_.program(), id)) {
      return sketch_.refuse(id, "in a loop beside the planned one is not printed as TTGIR yet");
    }
    for (const ir::ValueId result : op.results) {
      const bool waits = op.kind == ir::OpKind::relayout || sketch_.ring_of(result).has_value();
      if (waits || !sketch_.depends(result) || !is_tile(ir::type_of(sketch_.program(), result))) {
        continue;
      }
      const int cut = sketch_.cut_of(result);
      for (const int part : cut < 0 ? std::vector<int>{-1} : parts) {
        TWILL_TRY_VOID(want(result, {cut, part}, kBeside));
      }
    }
  }
  return {};
}

Result<void> RoleBuilder::loop_beside(ir::OpId id, const std::vector<Passed>& passed,
                                      const std::vector<int>& parts) {
  const ir::Loop loop = *ir::as_loop(sketch_.program(), id);
  if (!loop.induction) return sketch_.refuse(id, "is no counting loop");
  std::set<int> depths;
  for (const ir::OpId load : sketch_.loads_of(id)) {
    const OpId copy = *sketch_.ring_of(sketch_.program().op(load).results.front());
    depths.insert(memory_.rings.at(*sketch_.plan().values[copy.index()].home).depth);
  }
  Node node{NodeKind::loop};
  for (const ir::ValueId bound : {*loop.lower, *loop.upper, *loop.step}) {
    TWILL_TRY(node.operands.emplace_back(), want_scalar(bound));
  }
  for (const Passed& one : passed) {
    TWILL_TRY(node.operands.emplace_back(), want(one.what.init, one.rows, {}, one.type));
  }
  for (const int depth : depths) {
    if (!positions_.contains(depth)) {
      std::pair<ValueId, ValueId> at{number(0), number(0)};
      if (depth > 1) {
        TWILL_TRY(at.first, left({Thing::Kind::slot, {}, {}, depth}, sketch_.i32()));
      }
      TWILL_TRY(at.second, left({Thing::Kind::phase, {}, {}, depth}, sketch_.i32()));
      positions_[depth] = at;
    }
    if (depth > 1) node.operands.push_back(positions_[depth].first);
    node.operands.push_back(positions_[depth].second);
  }
  node.blocks.resize(1);
  Block& body = node.blocks.front();
  const std::string& counter = sketch_.program().value(*loop.induction).name;
  body.arguments.push_back(add_value(counter, ir::type_of(sketch_.program(), *loop.induction)));
  beside_.clear();
  beside_[{*loop.induction, {}}] = body.arguments.front();
  for (const Passed& one : passed) {
    const std::string& name = sketch_.program().value(one.what.argument).name;
    body.arguments.push_back(add_value(name, one.type));
    beside_[{one.what.argument, one.rows}] = body.arguments.back();
    node.results.push_back(add_value(name, one.type));
  }
  std::map<int, std::pair<ValueId, ValueId>> behind;
  for (const int depth : depths) {
    for (const bool slot : {true, false}) {
      if (slot && depth == 1) continue;
      const char* const name = slot ? "slot" : "phase";
      body.arguments.push_back(add_value(name, sketch_.i32()));
      node.results.push_back(add_value(name, sketch_.i32()));
      (slot ? positions_[depth].first : positions_[depth].second) = body.arguments.back();
      (slot ? behind[depth].first : behind[depth].second) = node.results.back();
    }
    if (depth == 1) behind[depth].first = number(0);
  }
  Nodes* const outer = now_;
  outside_ = now_;
  now_ = &body.nodes;
  if (parts.empty()) {
    TWILL_TRY_VOID(bring(id));
  } else {
    TWILL_TRY_VOID(work(id, parts));
  }
  for (const Passed& one : passed) {
    TWILL_TRY(body.yields.emplace_back(), want(one.what.yielded, one.rows, kBeside, one.type));
  }
  if (!parts.empty()) {
    for (const plan::ChannelId channel : waited_) {
      if (memory_.empty.contains(channel)) arrive(memory_.empty.at(channel), kBeside, "empty");
    }
  }
  for (const int depth : depths) {
    const auto next = advanced(depth, positions_[depth]);
    if (depth > 1) body.yields.push_back(next.first);
    body.yields.push_back(next.second);
  }
  now_ = outer;
  outside_ = nullptr;
  beside_.clear();
  for (const auto& [depth, at] : behind) positions_[depth] = at;
  for (std::size_t i = 0; i < passed.size(); ++i) {
    if (!passed[i].what.result) continue;
    invariant_[{*passed[i].what.result, passed[i].rows, {}, nullptr}] = node.results[i];
  }
  now_->push_back(std::move(node));
  return {};
}

/// Builds the share of a role with tiles in another loop.
Result<void> RoleBuilder::run_beside(ir::OpId loop) {
  const std::vector<int> parts = parts_held(loop);
  TWILL_TRY(const std::vector<Passed> passed, passed_by(loop, parts));
  return loop_beside(loop, passed, parts);
}

/// Builds the share of the loading role in other loops, behind the planned one.
Result<void> RoleBuilder::load_beside() {
  const plan::Plan& plan = sketch_.plan();
  for (std::size_t i = 0; i < plan.kernel->around.size(); ++i) {
    const ir::OpId loop = sketch_.around(i);
    if (!ir::is_loop(sketch_.program().op(loop).kind)) continue;
    const std::vector<ir::OpId> loads = sketch_.loads_of(loop);
    if (loads.empty()) continue;
    const auto ring = sketch_.ring_of(sketch_.program().op(loads.front()).results.front());
    if (!ring) continue;
    TWILL_TRY(const plan::ChannelId channel, sketch_.channel_of(*ring));
    if (&plan[plan[channel].producer] != role_) continue;
    TWILL_TRY(const std::vector<Passed> passed, passed_by(loop, {}));
    TWILL_TRY_VOID(loop_beside(loop, passed, {}));
  }
  return {};
}

}  // namespace twill::device
