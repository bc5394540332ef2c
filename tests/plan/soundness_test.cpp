#include <string>

#include <gtest/gtest.h>

#include "plan/plans.h"

// Protects the proof against plans that it once accepted and that run wrongly; random loops found
// them (docs/decisions/0006-plan-proof.md). Each is a good plan with one place changed.
namespace twill::plan::testing {
namespace {

/// Two warps transpose a tile in shared memory into another tile.
constexpr const char* kTurnOver = R"(
loop turnover
memory SMEM capacity 8
group C warps 2 registers 20
op put latency 2 issue 2 warps 2 occupies SMEM 2
op mix latency 2 issue 2 warps 2 occupies SMEM 2
op get latency 2 issue 2 warps 2 registers 1
put -> mix blocking read-hold 2
mix -> get blocking read-hold 2
)";

/// A value of two iterations ago is read.
constexpr const char* kLongAgo = R"(
loop long_ago
group C warps 1 registers 20
op m latency 2 issue 2 warps 1 registers 1
op s latency 2 issue 2 warps 1 registers 1
m -> s distance 2
)";

/// Two products that add up in the same registers.
constexpr const char* kAddUp = R"(
loop add_up
unit TC
group C warps 2 registers 20
op a on TC for 3 latency 4 issue 1 warps 2 registers 4 async
op b on TC for 3 latency 4 issue 1 warps 2 registers 4 async
op f latency 2 issue 2 warps 2 registers 1
a -> b delay 0 in-place
b -> f blocking
)";

std::size_t op_named(const Plan& plan, const std::string& name) {
  for (std::size_t v = 0; v < plan.problem.ops().size(); ++v) {
    if (plan.problem.ops()[v].name == name) return v;
  }
  ADD_FAILURE() << "nothing is called " << name;
  return 0;
}

TEST(Soundness, ResultOverAnOperandThatOtherWarpsStillRead) {
  Plan plan = good(kTurnOver);
  plan.values[op_named(plan, "mix")].home = plan.values[op_named(plan, "put")].home;
  expect_rule(plan, "overwrite");
}

TEST(Soundness, TwoValuesFromBeforeTheLoopInOneCopy) {
  Plan plan = good(kLongAgo);
  Buffer& values = plan.buffers[plan.values[op_named(plan, "m")].home->index()];
  ASSERT_EQ(values.initial, 2);
  values.depth = 1;
  expect_rule(plan, "read-before-write");
}

TEST(Soundness, UpdateInPlaceOfAnotherPlace) {
  Plan plan = good(kAddUp);
  Value& result = plan.values[op_named(plan, "b")];
  Buffer elsewhere = plan.buffers[result.home->index()];
  elsewhere.name = "elsewhere";
  result.home = BufferId(plan.buffers.size());
  plan.buffers.push_back(elsewhere);
  expect_rule(plan, "read-before-write");
}

}  // namespace
}  // namespace twill::plan::testing
