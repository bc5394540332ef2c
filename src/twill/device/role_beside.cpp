#include <algorithm>

#include "twill/device/role.h"
#include "twill/ir/operands.h"
#include "twill/plan/rings.h"

/// Loops beside the planned loop, and the rings that go on in these loops.
namespace twill::device {

/// The copy of a ring that the present iteration reads, after a wait. Makes copies by threads
/// visible to the tensor core.
Result<ValueId> RoleBuilder::brought(OpId copy) {
  const plan::ChannelId channel = *plan::ring_of(plan_, copy);
  if (waited_.insert(channel).second) wait(memory_.full.at(channel), kBeside, false, "full");
  const bool by_threads = plan_.mechanisms[copy.index()] == plan::Mechanism::cp_async;
  if (fenced_.insert(copy).second && by_threads) emit(NodeKind::proxy_fence);
  const plan::BufferId home = *plan_.values[copy.index()].home;
  return this->copy(memory_.rings.at(home), kBeside, plan_.problem[copy].name);
}

/// Waits for all loads of the present loop through rings.
Result<void> RoleBuilder::await_all() {
  for (const ir::OpId load : sketch_.loads_of(*ringed_)) {
    TWILL_TRY_VOID(brought(*sketch_.ring_of(program_.op(load).results.front())));
  }
  return {};
}

/// Values that the loop carries, in the rows that the role holds; only the values in `wanted`, if
/// given.
Result<std::vector<RoleBuilder::Passed>> RoleBuilder::passed_by(
    ir::OpId id, const std::vector<int>& parts, const std::set<ir::ValueId>* wanted) {
  std::vector<Passed> passed;
  const auto loop = ir::as_loop(program_, id);
  for (const ir::Carried& carried : loop->carried) {
    if (wanted != nullptr && !wanted->contains(carried.argument)) continue;
    for (const Rows rows : rows_in(carried.argument, parts)) {
      TWILL_TRY(const ir::Type type, own_type(carried.argument, rows));
      passed.push_back({carried, rows, type});
    }
  }
  return passed;
}

/// Starts the loads of an iteration, each once its buffer is free.
Result<void> RoleBuilder::bring_all(ir::OpId loop) {
  std::set<plan::ChannelId> acquired;
  for (const ir::OpId load : sketch_.loads_of(loop)) {
    const OpId copy = *sketch_.ring_of(program_.op(load).results.front());
    const plan::ChannelId channel = *plan::ring_of(plan_, copy);
    if (acquired.insert(channel).second) {
      if (memory_.empty.contains(channel)) wait(memory_.empty.at(channel), kBeside, true, "empty");
      if (plan_[channel].bytes > 0) expect(channel, kBeside);
    }
    TWILL_TRY_VOID(bring(load, copy, channel, kBeside));
  }
  return {};
}

/// Finds the positions of the rings with which the present loop goes on.
Result<void> RoleBuilder::find_positions(const std::vector<Thing>& things) {
  for (const Thing& thing : things) {
    const Key key{thing, kBeside};
    if (is_known(key)) continue;
    TWILL_TRY(made_[key], left(thing, sketch_.i32()));
  }
  return {};
}

/// Positions of the rings that bring a loop's loads.
std::vector<Thing> RoleBuilder::rings_of(ir::OpId loop) const {
  std::set<int> depths;
  for (const ir::OpId load : sketch_.loads_of(loop)) {
    const OpId copy = *sketch_.ring_of(program_.op(load).results.front());
    depths.insert(memory_.rings.at(*plan_.values[copy.index()].home).depth);
  }
  return positions(depths);
}

}  // namespace twill::device
