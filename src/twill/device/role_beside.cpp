#include <algorithm>

#include "twill/device/role.h"
#include "twill/ir/operands.h"

/// Loops beside the planned one, and the rings that go on in them.
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

/// Slot and phase of rings that the loop at hand goes on with, as they were left.
Result<void> RoleBuilder::find_positions(const std::set<int>& depths) {
  for (const int depth : depths) {
    if (positions_.contains(depth)) continue;
    std::pair<ValueId, ValueId> at{number(0), number(0)};
    if (depth > 1) {
      TWILL_TRY(at.first, left({Thing::Kind::slot, {}, {}, depth}, sketch_.i32()));
    }
    TWILL_TRY(at.second, left({Thing::Kind::phase, {}, {}, depth}, sketch_.i32()));
    positions_[depth] = at;
  }
  return {};
}

/// Has a loop carry slots and phases, which are those of the iteration at hand in its body. Gives
/// those behind it.
std::map<int, std::pair<ValueId, ValueId>> RoleBuilder::carry_positions(const std::set<int>& depths,
                                                                        Node& node) {
  std::map<int, std::pair<ValueId, ValueId>> behind;
  Block& body = node.blocks.front();
  const auto carry = [&](ValueId& now, ValueId& later, const char* name) {
    node.operands.push_back(now);
    body.arguments.push_back(add_value(name, sketch_.i32()));
    node.results.push_back(add_value(name, sketch_.i32()));
    now = body.arguments.back();
    later = node.results.back();
  };
  for (const int depth : depths) {
    behind[depth].first = number(0);
    if (depth > 1) carry(positions_[depth].first, behind[depth].first, "slot");
    carry(positions_[depth].second, behind[depth].second, "phase");
  }
  return behind;
}

void RoleBuilder::release_brought() {
  for (const plan::ChannelId channel : waited_) {
    if (memory_.empty.contains(channel)) arrive(memory_.empty.at(channel), kBeside, "empty");
  }
}

/// Depths of the rings that bring what a loop loads.
std::set<int> RoleBuilder::rings_of(ir::OpId loop) const {
  std::set<int> depths;
  for (const ir::OpId load : sketch_.loads_of(loop)) {
    const auto copy = sketch_.ring_of(sketch_.program().op(load).results.front());
    if (!copy) continue;
    depths.insert(memory_.rings.at(*sketch_.plan().values[copy->index()].home).depth);
  }
  return depths;
}

/// Builds the share of a role with tiles in another loop.
Result<void> RoleBuilder::run_beside(ir::OpId loop, bool leads) {
  const std::set<int> rings = rings_of(loop);
  TWILL_TRY(const std::vector<int> parts, parts_held(loop));
  return loop_again(loop, parts, rings.empty() ? At{} : kBeside, leads, rings);
}

/// Builds the share of the loading role in other loops, behind the planned one.
Result<void> RoleBuilder::load_beside() {
  const plan::Plan& plan = sketch_.plan();
  for (std::size_t i = 0; i < plan.kernel->per_tile_ops.size(); ++i) {
    const ir::OpId loop = sketch_.per_tile_op(i);
    if (!ir::is_loop(sketch_.program().op(loop).kind)) continue;
    const std::set<int> rings = rings_of(loop);
    if (rings.empty()) continue;
    const ir::OpId load = sketch_.loads_of(loop).front();
    const OpId copy = *sketch_.ring_of(sketch_.program().op(load).results.front());
    TWILL_TRY(const plan::ChannelId channel, sketch_.channel_of(copy));
    if (&plan[plan[channel].producer] != role_) continue;
    TWILL_TRY_VOID(loop_again(loop, {}, kBeside, false, rings));
  }
  return {};
}

}  // namespace twill::device
