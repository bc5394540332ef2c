#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "plan/plans.h"

// Protects the fences of tensor memory (tcgen05.fence): between accesses of different warps, of two
// roles or of one, and only there.
namespace twill::plan::testing {
namespace {

/// Threads write an operand in tensor memory, and one of their warps starts the product that reads
/// it. Threads read the result, which the next product overwrites.
Plan own_work(int warps) {
  return good(fmt::format(R"(
loop own
unit TC
memory TMEM capacity 4
group C warps {0} registers 20
op put latency 2 issue 2 warps {0} occupies TMEM 1
op mm on TC for 3 latency 4 issue 1 warps {0} occupies TMEM 1 async
op get latency 2 issue 2 warps {0} registers 1
put -> mm blocking
mm -> get blocking read-hold 2
)",
                          warps)
                  .c_str());
}

Steps fences(Fence kind) {
  return [kind](const Step& step) { return step.fence == kind; };
}

TEST(TensorFence, StandsBetweenRoles) {
  for (const Fence kind : {Fence::tensor_before, Fence::tensor_after}) {
    Plan plan = good(kTensor);
    ASSERT_GT(drop(plan, fences(kind)), 0);
    expect_rule(plan, "fence");
  }
}

TEST(TensorFence, StandsAroundTheMeetingOfWarpsOfOneRole) {
  for (const Fence kind : {Fence::tensor_before, Fence::tensor_after}) {
    Plan plan = own_work(2);
    ASSERT_GT(drop(plan, fences(kind)), 0);
    expect_rule(plan, "fence");
  }
}

TEST(TensorFence, StandsBeforeTheMeetingWhatWasDoneAndBehindItWhatFollows) {
  Plan plan = own_work(2);
  int found = 0;
  for (Role& role : plan.roles) {
    each_sequence(role, [&](std::vector<Step>& steps) {
      for (std::size_t i = 1; i + 1 < steps.size(); ++i) {
        if (steps[i].kind != StepKind::rendezvous) continue;
        EXPECT_EQ(steps[i - 1].fence, Fence::tensor_before) << to_text(plan);
        EXPECT_EQ(steps[i + 1].fence, Fence::tensor_after) << to_text(plan);
        std::swap(steps[i - 1], steps[i]);
        ++found;
      }
    });
  }
  ASSERT_GT(found, 0);
  // A fence after the meeting is too late for the accesses of the other warps.
  expect_rule(plan, "fence");
}

/// Tests the exact limit: one warp needs no fence towards itself.
TEST(TensorFence, IsNotAskedOfOneWarp) {
  Plan plan = own_work(1);
  EXPECT_EQ(drop(plan, fences(Fence::tensor_before)), 0) << to_text(plan);
  drop(plan, fences(Fence::tensor_after));
  const auto proven = prove(plan);
  EXPECT_TRUE(proven.has_value()) << text_of(proven.error()) << to_text(plan);
}

/// A reader must be done, as seen by the unit, before the unit overwrites the tile; no other step
/// makes the warps meet here.
TEST(TensorFence, StandsBeforeAReaderIsOverwritten) {
  constexpr const char* kOneCopy = R"(
loop one_copy
unit TC
memory TMEM capacity 1
group C warps 2 registers 20
op mm on TC for 3 latency 4 issue 1 warps 2 occupies TMEM 1 async
op get latency 2 issue 2 warps 2 registers 1
mm -> get blocking read-hold 2
)";
  for (const Fence kind : {Fence::tensor_before, Fence::tensor_after}) {
    Plan plan = good(kOneCopy);
    ASSERT_GT(drop(plan, fences(kind)), 0);
    expect_rule(plan, "fence");
  }
}

}  // namespace
}  // namespace twill::plan::testing
