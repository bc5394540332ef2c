#include "twill/plan/draft_scalar_effects.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace twill::plan {

ScalarEffects::ScalarEffects(Draft& draft) : plan_(draft.plan) {
  for (std::size_t i = 0; i < plan_.kernel->per_tile_ops.size(); ++i) {
    if (plan_.kernel->per_tile_ops[i].alone) add(i);
  }
}

void ScalarEffects::add(std::size_t effect) {
  PerTileOp& op = plan_.kernel->per_tile_ops[effect];
  Turn turn{effect, op.roles.front(), {}};
  const bool walks = plan_.kernel->tiles != Tiles::one_per_cta;
  std::vector<RoleId> others, readers;
  for (std::size_t r = 0; r < plan_.roles.size(); ++r) {
    const RoleId role(r);
    if (role == turn.by) continue;
    if (can_hold_tiles(plan_.problem.groups(), plan_[role].group)) others.push_back(role);
    if (walks || first_behind(turn, role)) readers.push_back(role);
  }
  for (const RoleId role : others) turn.arrivals.push_back(add_channel(effect, role, {turn.by}));
  if (!readers.empty()) op.told = add_channel(effect, turn.by, std::move(readers));
  turns_.push_back(std::move(turn));
}

ChannelId ScalarEffects::add_channel(std::size_t effect, RoleId from, std::vector<RoleId> to) {
  Channel channel;
  const bool tells = from == plan_.kernel->per_tile_ops[effect].roles.front();
  channel.name = fmt::format("turn{}.{}", effect, tells ? "done" : plan_[from].name);
  channel.counts = Channel::Counts::tiles;
  channel.producer = from;
  channel.consumers = std::move(to);
  channel.full_arrivals = plan_[from].warps;
  for (const RoleId role : channel.consumers) channel.empty_arrivals += plan_[role].warps;
  plan_.channels.push_back(std::move(channel));
  return ChannelId(plan_.channels.size() - 1);
}

/// Whether a role has an access to global memory, or another such effect, after the loop.
bool ScalarEffects::is_access(std::size_t per_tile_op, RoleId role) const {
  const PerTileOp& it = plan_.kernel->per_tile_ops[per_tile_op];
  return it.when == PerTileOp::When::after &&
         (it.writes || it.alone || it.mechanism == Mechanism::scoreboard) &&
         std::find(it.roles.begin(), it.roles.end(), role) != it.roles.end();
}

/// The last access of a role that has to be done earlier. Bulk stores are under way then, as in the
/// program itself.
std::optional<std::size_t> ScalarEffects::last_before(const Turn& turn, RoleId role) const {
  for (std::size_t i = turn.effect; i-- > 0;) {
    const bool bulk = plan_.kernel->per_tile_ops[i].mechanism == Mechanism::bulk_store;
    if (is_access(i, role) && !bulk) return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> ScalarEffects::first_behind(const Turn& turn, RoleId role) const {
  for (std::size_t i = turn.effect + 1; i < plan_.kernel->per_tile_ops.size(); ++i) {
    if (is_access(i, role)) return i;
  }
  return std::nullopt;
}

void ScalarEffects::arrive(const Turn& turn, RoleId role, std::vector<Step>& steps) const {
  for (const ChannelId channel : turn.arrivals) {
    if (plan_[channel].producer != role) continue;
    steps.push_back(channel_step(StepKind::acquire, channel, By::every_warp));
    steps.push_back(channel_step(StepKind::commit, channel, By::every_warp));
  }
}

void ScalarEffects::learn(const Turn& turn, RoleId role, std::vector<Step>& steps) const {
  const auto told = plan_.kernel->per_tile_ops[turn.effect].told;
  if (!told) return;
  const std::vector<RoleId>& readers = plan_[*told].consumers;
  if (std::find(readers.begin(), readers.end(), role) == readers.end()) return;
  steps.push_back(channel_step(StepKind::wait, *told, By::every_warp));
  steps.push_back(channel_step(StepKind::release, *told, By::every_warp));
}

/// Makes the role's warps meet after the ops before.
void ScalarEffects::meet(RoleId role, std::vector<Step>& steps) const {
  if (plan_[role].warps == 1) return;
  Step step = channel_step(StepKind::rendezvous, {}, By::every_warp);
  step.channel.reset();
  steps.push_back(step);
}

void ScalarEffects::begin(RoleId role, std::vector<Step>& steps) const {
  for (const Turn& turn : turns_) {
    if (!last_before(turn, role)) arrive(turn, role, steps);
  }
}

void ScalarEffects::before(RoleId role, std::size_t per_tile_op, std::vector<Step>& steps) const {
  for (const Turn& turn : turns_) {
    if (first_behind(turn, role) == per_tile_op) learn(turn, role, steps);
    if (turn.effect != per_tile_op || turn.by != role) continue;
    for (const ChannelId channel : turn.arrivals) {
      steps.push_back(channel_step(StepKind::wait, channel, By::every_warp));
      steps.push_back(channel_step(StepKind::release, channel, By::every_warp));
    }
    const auto told = plan_.kernel->per_tile_ops[per_tile_op].told;
    if (told) steps.push_back(channel_step(StepKind::acquire, *told, By::every_warp));
    meet(role, steps);
  }
}

void ScalarEffects::behind(RoleId role, std::size_t per_tile_op, std::vector<Step>& steps) const {
  for (const Turn& turn : turns_) {
    if (last_before(turn, role) == per_tile_op) arrive(turn, role, steps);
    const auto told = plan_.kernel->per_tile_ops[turn.effect].told;
    if (turn.effect != per_tile_op || turn.by != role) continue;
    meet(role, steps);
    if (told) steps.push_back(channel_step(StepKind::commit, *told, By::every_warp));
  }
}

void ScalarEffects::end(RoleId role, std::vector<Step>& steps) const {
  for (const Turn& turn : turns_) {
    if (!first_behind(turn, role)) learn(turn, role, steps);
  }
}

}  // namespace twill::plan
