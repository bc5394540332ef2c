#include <algorithm>
#include <tuple>

#include "twill/plan/draft.h"

namespace twill::plan {
namespace {

/// Products that a role leaves in flight over the back edge of its loop.
int in_flight_over_back_edge(const Plan& plan, const Role& role) {
  int count = 0;
  for (const Step& step : role.sections.steady) {
    if (step.kind == StepKind::issue && step.op &&
        plan.mechanisms[step.op->index()] == Mechanism::wgmma) {
      ++count;
    }
    if (step.kind == StepKind::drain_groups && step.queue == Mechanism::wgmma) {
      count = std::min(count, step.pending);
    }
  }
  return count;
}

}  // namespace

/// Chooses among the roles of whole warpgroups with the most registers a role with the most
/// products in flight over its back edge. ptxas was seen to serialize the products of such a role
/// where another role had the warps of the launch. The opposite was not seen.
void choose_launch_role(Plan& plan) {
  if (!plan.kernel) return;
  const auto rank = [&](const Role& role) {
    return std::tuple(role.usable, in_flight_over_back_edge(plan, role));
  };
  for (std::size_t r = 0; r < plan.roles.size(); ++r) {
    if (plan.roles[r].warps % machine::kWarpsPerWarpgroup != 0) continue;
    auto& best = plan.kernel->launch_role;
    if (!best || rank(plan[*best]) < rank(plan.roles[r])) best = RoleId(r);
  }
}

}  // namespace twill::plan
