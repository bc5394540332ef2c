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

std::ptrdiff_t Sketch::releases(const plan::Role& role, plan::ChannelId channel) const {
  const auto is_release = [&](const plan::Step& step) {
    return step.kind == plan::StepKind::release && step.channel == channel;
  };
  const bool by_tile = (*plan_)[channel].counts == plan::Channel::Counts::tiles;
  const auto& steps = by_tile ? role.after : role.sections.steady;
  return std::count_if(steps.begin(), steps.end(), is_release);
}

/// The planned loop's ring of the same descriptor and tile, for each load of a loop behind it,
/// which `roles` carry out. Nothing if a load has none, or if a channel brings more than the loop
/// loads. Nothing also unless the roles are the channel's readers, and each releases once an
/// iteration. A reader is none if the loading role learns of its end by another channel.
Result<std::map<ir::ValueId, OpId>> Sketch::rings_for(
    ir::OpId loop, const std::vector<plan::RoleId>& roles) const {
  std::map<ir::ValueId, OpId> free = copied_, found;
  std::set<plan::BufferId> used;
  for (const ir::OpId load : loads_of(loop)) {
    if (ir::parent(*program_, load) != loop) return std::map<ir::ValueId, OpId>();
    TWILL_TRY(const ir::Type type, memory_type(load));
    std::optional<ir::ValueId> like;
    for (const auto& [other, copy] : free) {
      const ir::OpId by = *definition(other);
      if (program_->op(by).kind != OpKind::block_load || like) continue;
      if (program_->op(by).operands.front() != program_->op(load).operands.front()) continue;
      TWILL_TRY(const ir::Type brought, memory_type(by));
      if (brought == type) like = other;
    }
    if (!like) return std::map<ir::ValueId, OpId>();
    found[program_->op(load).results.front()] = free.at(*like);
    used.insert(*plan_->values[free.at(*like).index()].home);
    free.erase(*like);
  }
  for (std::size_t i = 0; i < plan_->channels.size(); ++i) {
    const plan::Channel& channel = plan_->channels[i];
    const auto is_used = [&](plan::BufferId buffer) { return used.contains(buffer); };
    const auto releases_once = [&](plan::RoleId role) {
      return releases((*plan_)[role], plan::ChannelId(i)) == 1;
    };
    const auto& buffers = channel.buffers;
    const auto& readers = channel.consumers;
    const bool same_readers =
        std::is_permutation(readers.begin(), readers.end(), roles.begin(), roles.end());
    if (std::none_of(buffers.begin(), buffers.end(), is_used)) continue;
    if (!std::all_of(buffers.begin(), buffers.end(), is_used)) found.clear();
    if (!same_readers) found.clear();
    if (!std::all_of(readers.begin(), readers.end(), releases_once)) found.clear();
  }
  return found;
}

/// Finds rings for what loops behind the planned one load. What has none is waited for by the role
/// that needs it.
Result<void> Sketch::find_beside() {
  for (std::size_t i = 0; i < per_tile_ops_.size(); ++i) {
    const ir::OpId id = per_tile_ops_[i];
    const bool works = ir::is_loop(program_->op(id).kind) && !only_reads(*program_, id);
    if (!works || where(id) == Where::before) continue;
    TWILL_TRY(const auto rings, rings_for(id, plan_->kernel->per_tile_ops[i].roles));
    again_.insert(rings.begin(), rings.end());
  }
  return {};
}

}  // namespace twill::device
