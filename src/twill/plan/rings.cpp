#include "twill/plan/rings.h"

#include <algorithm>
#include <set>

namespace twill::plan {

std::optional<ChannelId> ring_of(const Plan& plan, OpId copy) {
  const auto home = plan.values[copy.index()].home;
  for (std::size_t i = 0; i < plan.channels.size() && home; ++i) {
    const Channel& channel = plan.channels[i];
    const auto& buffers = channel.buffers;
    const bool guards = std::find(buffers.begin(), buffers.end(), *home) != buffers.end();
    if (guards && channel.kind == ChannelKind::pipeline) return ChannelId(i);
  }
  return std::nullopt;
}

std::optional<RoleId> loader_of(const Plan& plan, const PerTileOp& loop) {
  if (loop.loads.empty()) return std::nullopt;
  const auto ring = ring_of(plan, loop.loads.front().copy);
  return ring ? std::optional(plan[*ring].producer) : std::nullopt;
}

std::ptrdiff_t releases(const Plan& plan, RoleId role, ChannelId channel) {
  const bool by_tile = plan[channel].counts == Channel::Counts::tiles;
  const auto& steps = by_tile ? plan[role].after : plan[role].sections.steady;
  return std::count_if(steps.begin(), steps.end(), [&](const Step& step) {
    return step.kind == StepKind::release && step.channel == channel;
  });
}

std::ptrdiff_t filled_by(const Plan& plan, const Channel& channel,
                         const std::vector<RingLoad>& loads) {
  return std::count_if(channel.buffers.begin(), channel.buffers.end(), [&](BufferId buffer) {
    return std::any_of(loads.begin(), loads.end(), [&](const RingLoad& load) {
      return plan.values[load.copy.index()].home == buffer;
    });
  });
}

bool leaves_rings_behind(const Plan& plan, const std::vector<RingLoad>& loads) {
  std::set<int> depths;
  for (const RingLoad& load : loads) depths.insert(plan[*ring_of(plan, load.copy)].depth);
  return std::any_of(plan.channels.begin(), plan.channels.end(), [&](const Channel& channel) {
    return channel.kind != ChannelKind::token && depths.contains(channel.depth) &&
           channel.counts == Channel::Counts::iterations && filled_by(plan, channel, loads) == 0;
  });
}

}  // namespace twill::plan
