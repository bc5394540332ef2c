#include <algorithm>
#include <vector>

#include "twill/plan/draft.h"
#include "twill/problem/problem.h"

/// Splits registers among the groups that share them.
namespace twill::plan {
namespace {

/// Registers given to a role of the budget.
struct Share {
  RoleId role;
  std::int64_t steps = 0;
  std::int64_t most = 0;
};

/// The roles of the budget's groups, with the registers that each needs beside its values.
std::vector<Share> shares_of(const Plan& plan, const problem::RegisterBudget& budget) {
  std::vector<Share> shares;
  for (std::size_t r = 0; r < plan.roles.size(); ++r) {
    const problem::GroupId group = plan.roles[r].group;
    if (std::find(budget.groups.begin(), budget.groups.end(), group) == budget.groups.end())
      continue;
    shares.push_back(
        {RoleId(r), budget.steps_for(0), budget.steps_for(plan.problem[group].registers)});
  }
  return shares;
}

/// Gives each role its need, as far as the budget allows. Gives the rest in steps, each to the role
/// with the least to spare.
void hand_out(const Plan& plan, const problem::RegisterBudget& budget, std::vector<Share>& shares) {
  std::int64_t left =
      budget.steps() - static_cast<std::int64_t>(budget.groups.size()) * budget.steps_for(0);
  for (Share& it : shares) {
    const std::int64_t needed = std::min(budget.steps_for(plan[it.role].registers), it.most);
    const std::int64_t more = std::min(needed - it.steps, left);
    it.steps += more;
    left -= more;
  }
  const auto spare = [&](const Share& it) {
    return it.steps * budget.step - plan[it.role].registers;
  };
  for (; left > 0; --left) {
    Share* neediest = nullptr;
    for (Share& it : shares) {
      if (it.steps == it.most) continue;
      if (neediest == nullptr || spare(it) < spare(*neediest)) neediest = &it;
    }
    if (neediest == nullptr) return;
    ++neediest->steps;
  }
}

}  // namespace

void split_registers(Draft& draft) {
  Plan& plan = draft.plan;
  constexpr int kWarps = 4;  // warps of a warpgroup
  for (const problem::RegisterBudget& budget : plan.problem.register_budgets()) {
    std::vector<Share> shares = shares_of(plan, budget);
    hand_out(plan, budget, shares);
    for (const Share& it : shares) {
      Role& role = plan.roles[it.role.index()];
      const auto given = static_cast<int>(it.steps) * budget.step;
      role.usable = std::min(role.usable, given - budget.reserve);
      const std::size_t first = role.warpgroup.index();
      const auto end = first + static_cast<std::size_t>((role.warps + kWarps - 1) / kWarps);
      for (std::size_t w = first; w < end; ++w) {
        if (plan.warpgroups[w].setmaxnreg > 0) plan.warpgroups[w].setmaxnreg = given;
      }
    }
  }
}

}  // namespace twill::plan
