#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "twill/plan/draft.h"

namespace twill::plan {
namespace {

/// The roles that read a buffer of the loop. Roles that copy into it are left out: a reader has
/// seen the end of each copy.
std::set<RoleId> readers_of(const Draft& draft, BufferId buffer) {
  std::set<RoleId> roles;
  for (const Read& read : draft.reads) {
    const bool its = read.carries_value && draft.home(read.value) == buffer;
    if (its) roles.insert(draft.role[read.reader.index()]);
  }
  return roles;
}

/// By reader and buffer: the other roles that stage there.
using Told = std::map<std::pair<RoleId, BufferId>, std::set<RoleId>>;

Told who_is_told(const Draft& draft) {
  Told told;
  for (const PerTileOp& per_tile_op : draft.plan.kernel->per_tile_ops) {
    if (per_tile_op.mechanism != Mechanism::bulk_store) continue;
    for (std::size_t k = 0; k < per_tile_op.buffers.size(); ++k) {
      for (const auto& [staging, buffer] : draft.overlays) {
        if (staging != per_tile_op.buffers[k]) continue;
        for (const RoleId reader : readers_of(draft, buffer)) {
          if (reader != per_tile_op.roles[k]) told[{reader, buffer}].insert(per_tile_op.roles[k]);
        }
      }
    }
  }
  return told;
}

/// Adds a step before the role's first store, or at its end.
void add_step(Role& role, StepKind kind, ChannelId channel) {
  Step step;
  step.kind = kind;
  step.instance = {Instance::From::tile, 0};
  step.channel = channel;
  const auto first = std::find_if(role.after.begin(), role.after.end(), [](const Step& it) {
    return it.kind == StepKind::drain_groups && it.queue == Mechanism::bulk_store;
  });
  role.after.insert(first, step);
}

}  // namespace

void make_overlays(Draft& draft) {
  Plan& plan = draft.plan;
  std::vector<ChannelId> made;
  for (const auto& [who, roles] : who_is_told(draft)) {
    const auto& [reader, buffer] = who;
    Channel channel;
    channel.name = fmt::format("{} left by {}", plan[buffer].name, plan[reader].name);
    channel.kind = ChannelKind::signal;
    channel.counts = Channel::Counts::tiles;
    channel.producer = reader;
    channel.consumers.assign(roles.begin(), roles.end());
    channel.full_arrivals = plan[reader].warps;
    channel.buffers = {buffer};
    made.emplace_back(plan.channels.size());
    plan.channels.push_back(std::move(channel));
    add_step(plan.roles[reader.index()], StepKind::commit, made.back());
  }
  for (const ChannelId channel : made) {
    for (const RoleId role : plan[channel].consumers) {
      add_step(plan.roles[role.index()], StepKind::wait, channel);
    }
  }
}

}  // namespace twill::plan
