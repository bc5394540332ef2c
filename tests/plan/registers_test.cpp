#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plan/plans.h"

// Protects the registers of roles that span several warpgroups: setmaxnreg is each warpgroup's own,
// and the role has the least of them.
namespace twill::plan::testing {
namespace {

/// A tile spread over 12 warps, which are three warpgroups beside the loader's.
constexpr const char* kWide = R"(
loop wide
unit TC
unit TMA
memory SMEM capacity 4
group L warps 1 loads
group C warps 12 registers 200
op ld on TMA for 2 latency 6 issue 1 warps 1 occupies SMEM 2 async streaming
op mm on TC for 4 latency 6 issue 1 warps 12 registers 130 async
op f latency 2 issue 2 warps 12 registers 31
ld -> mm blocking
mm -> f blocking
f -> f distance 1
)";
constexpr int kLaunch = 168;
constexpr int kOverhead = 28;
constexpr int kMost = 256;
constexpr int kStep = 8;  // granularity of setmaxnreg

/// The plan with a machine's limits, with the least setmaxnreg for the loader, and `setmaxnreg` for
/// the other role.
Plan wide_plan(int setmaxnreg) {
  Plan plan = plan_of(kWide);
  plan.limits.machine = "test";
  plan.limits.launch_registers = kLaunch;
  plan.limits.register_overhead = kOverhead;
  plan.limits.most_registers = kMost;
  for (Warpgroup& group : plan.warpgroups) group.setmaxnreg = setmaxnreg;
  plan.warpgroups[0].setmaxnreg = 24;
  for (Role& role : plan.roles) role.usable = role.registers;
  return plan;
}

/// The least setmaxnreg that holds the values of the role of 12 warps.
int sufficient() {
  const int needed = wide_plan(kLaunch).roles[1].registers + kOverhead;
  return (needed + kStep - 1) / kStep * kStep;
}

TEST(Registers, TheLeastThatHoldsTheValuesIsAccepted) {
  const Plan plan = wide_plan(sufficient());
  ASSERT_EQ(plan.warpgroups.size(), 4U);
  ASSERT_EQ(plan.roles[1].warps, 12);
  EXPECT_GT(plan.roles[1].registers, 130);
  const auto proven = prove(plan);
  EXPECT_TRUE(proven.has_value()) << text_of(proven.error());
}

// One step less in any of the role's warpgroups is too little, even if only the last warpgroup has
// less.
TEST(Registers, EveryWarpgroupOfARoleMustHaveThem) {
  for (std::size_t w = 1; w < 4; ++w) {
    Plan plan = wide_plan(sufficient());
    plan.warpgroups[w].setmaxnreg -= kStep;
    SCOPED_TRACE("warpgroup " + std::to_string(w));
    const auto verdict = prove(plan);
    ASSERT_FALSE(verdict.has_value());
    for (const Finding& finding : verdict.error()) EXPECT_EQ(finding.rule, "registers");
  }
}

}  // namespace
}  // namespace twill::plan::testing
