#include <algorithm>

#include "twill/device/sketch.h"
#include "twill/ir/operands.h"

/// Loops behind the planned one that work on tiles. They run in the same roles, one step after the
/// other; what they load comes through the rings of the planned loop, which go on.
namespace twill::device {

using ir::OpKind;

std::optional<OpId> Sketch::ring_of(ir::ValueId value) const {
  const auto found = again_.find(value);
  return found == again_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<ir::OpId> Sketch::loads_of(ir::OpId loop) const {
  std::vector<ir::OpId> loads;
  for (const ir::OpId id : ir::walk(*program_, loop)) {
    if (program_->op(id).kind == OpKind::block_load) loads.push_back(id);
  }
  return loads;
}

Result<plan::ChannelId> Sketch::channel_of(OpId copy) const {
  const auto home = plan_->values[copy.index()].home;
  for (std::size_t i = 0; i < plan_->channels.size() && home; ++i) {
    const plan::Channel& channel = plan_->channels[i];
    const auto& buffers = channel.buffers;
    const bool guards = std::find(buffers.begin(), buffers.end(), *home) != buffers.end();
    if (guards && channel.kind == plan::ChannelKind::pipeline) return plan::ChannelId(i);
  }
  return refuse(loop_.op, "has a ring without a channel: " + plan_->problem[copy].name);
}

/// Finds for each load of another loop the ring of the same descriptor and tile.
Result<void> Sketch::find_beside() {
  for (const ir::OpId id : around_) {
    if (!ir::is_loop(program_->op(id).kind) || is_pure(*program_, id)) continue;
    std::map<ir::ValueId, OpId> free = copied_;
    std::set<plan::BufferId> used;
    for (const ir::OpId load : loads_of(id)) {
      if (where(id) == Where::before) {
        return refuse(id, "loads tiles before the planned loop, which is not printed as TTGIR yet");
      }
      const ir::ValueId value = program_->op(load).results.front();
      TWILL_TRY(const ir::Type type, memory_type(load));
      std::optional<ir::ValueId> like;
      for (const auto& [other, copy] : free) {
        const ir::OpId by = *definition(other);
        if (program_->op(by).kind != OpKind::block_load) continue;
        if (program_->op(by).operands.front() != program_->op(load).operands.front()) continue;
        TWILL_TRY(const ir::Type brought, memory_type(by));
        if (brought == type && !like) like = other;
      }
      if (!like) {
        return refuse(load, "loads what no ring of the planned loop has room for",
                      "plan the loop that loads more (--loop)");
      }
      again_[value] = free.at(*like);
      used.insert(*plan_->values[free.at(*like).index()].home);
      free.erase(*like);
    }
    for (const plan::Channel& channel : plan_->channels) {
      const auto is_used = [&](plan::BufferId buffer) { return used.contains(buffer); };
      const auto& buffers = channel.buffers;
      const bool some = std::any_of(buffers.begin(), buffers.end(), is_used);
      if (some && !std::all_of(buffers.begin(), buffers.end(), is_used)) {
        return refuse(id, "uses some of the buffers that " + channel.name + " brings together");
      }
    }
  }
  return {};
}

}  // namespace twill::device
