#include "plan/explored_layout.h"

namespace twill::plan::testing {

std::vector<RoleId> roles_of(const Plan& plan) {
  std::vector<RoleId> roles;
  for (std::size_t v = 0; v < plan.problem.ops().size(); ++v) {
    roles.push_back(role_of(plan, OpId(v)).value_or(RoleId(0)));
  }
  return roles;
}

ExploredLayout::ExploredLayout(const Plan& plan, std::int64_t trips)
    : plan_(plan), ctas_(static_cast<std::size_t>(cluster_size(plan))) {
  for (std::size_t cta = 0; cta < ctas_; ++cta) {
    for (std::size_t r = 0; r < plan.roles.size(); ++r) {
      for (int w = 0; w < plan.roles[r].warps; ++w) add_warp(cta, RoleId(r), w, trips);
    }
    add_barriers();
  }
}

void ExploredLayout::add_warp(std::size_t cta, RoleId role, int number, std::int64_t trips) {
  ExploredWarp warp{{}, role, number, cta, cta * plan_.roles.size() + role.index(), 0};
  std::vector<PlacedStep> steps = unrolled(plan_[role].sections, trips);
  for (const Step& step : plan_[role].tail) {
    if (step.kind == StepKind::leave) steps.push_back({&step, trips});
  }
  bool leaves = false;
  for (const PlacedStep& placed : steps) {
    if (placed.step->by == By::one_warp && number > 0) continue;
    warp.program.push_back({placed.step, placed.iteration, false});
    const StepKind kind = placed.step->kind;
    if (kind == StepKind::leave) {
      leaves = true;
      warp.comes = warp.program.size();
    }
    if (kind == StepKind::take || kind == StepKind::rendezvous || kind == StepKind::leave) {
      warp.program.push_back({placed.step, placed.iteration, true});
    }
  }
  if (!leaves) warp.comes = warp.program.size();
  warps_.push_back(std::move(warp));
}

void ExploredLayout::add_barriers() {
  for (const Channel& channel : plan_.channels) {
    first_barrier_.push_back(counts_.size());
    for (int s = 0; s < channel.depth; ++s) counts_.push_back(channel.full_arrivals);
    for (int s = 0; s < channel.depth; ++s) counts_.push_back(channel.empty_arrivals);
  }
  for (const Role& role : plan_.roles) {
    role_barrier_.push_back(counts_.size());
    counts_.push_back(role.warps);
  }
}

std::size_t ExploredLayout::barrier(std::size_t cta, ChannelId channel, bool empty,
                                    std::int64_t iteration) const {
  const std::int64_t depth = plan_[channel].depth;
  return first_barrier_[cta * plan_.channels.size() + channel.index()] +
         static_cast<std::size_t>((empty ? depth : 0) + iteration % depth);
}

std::size_t ExploredLayout::meeting(const ExploredWarp& warp, const Micro& micro) const {
  if (micro.step->kind == StepKind::rendezvous) return role_barrier_[warp.crew];
  return barrier(warp.cta, *micro.step->channel, false, micro.iteration);
}

}  // namespace twill::plan::testing
