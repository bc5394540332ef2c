#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plan/plans.h"

// Protects copies by threads: they signal their end at a barrier that counts all of them. The async
// proxy reads them behind a fence of the reader, which the proof demands.
namespace twill::plan::testing {
namespace {

/// Two loads that one product reads.
constexpr const char* kTwoLoads = R"(
loop copies
unit TC
memory SMEM capacity 24
group L warps 4 loads
group C warps 2 registers 20
op a latency 6 issue 1 warps 4 occupies SMEM 2 async streaming
op b latency 6 issue 1 warps 4 occupies SMEM 2 async streaming
op mm on TC for 4 latency 6 issue 1 warps 2 registers 4 async
a -> mm blocking
b -> mm blocking
)";

Plan copies_plan(const char* loop, std::size_t loads) {
  const auto parsed = schedule::parse_loop(loop, "test");
  const auto answer = solve::solve(parsed->problem, {});
  const auto checked = verify::verify(parsed->problem, *answer.schedule);
  Setting setting;
  setting.mechanisms.resize(parsed->problem.ops().size());
  for (std::size_t v = 0; v < loads; ++v) setting.mechanisms[v] = Mechanism::cp_async;
  auto plan = draft_plan(*checked, setting);
  if (!plan) ADD_FAILURE() << to_string(plan.error());
  return *std::move(plan);
}

std::vector<std::vector<Step>*> sequences(Plan& plan) {
  std::vector<std::vector<Step>*> all;
  for (Role& role : plan.roles) {
    all.insert(all.end(), {&role.before, &role.sections.prologue, &role.sections.steady,
                           &role.sections.drain});
    for (auto& path : role.sections.short_trips) all.push_back(&path);
  }
  return all;
}

bool is_proxy_fence(const Step& step) { return step.fence == Fence::proxy; }

TEST(Copies, OfOneReaderComeTogetherInARingThatFillsTheMemory) {
  const Plan plan = copies_plan(kTwoLoads, 2);
  EXPECT_EQ(rule_of(plan), "");
  ASSERT_EQ(plan.channels.size(), 1U);
  EXPECT_EQ(plan.channels[0].full_arrivals, 2 * 4 * 32);
  EXPECT_EQ(plan.channels[0].bytes, 0);
  EXPECT_EQ(plan.channels[0].depth, 6);
}

TEST(Copies, ThatTmaMakesAreCountedApart) {
  const Plan plan = copies_plan(kTwoLoads, 2);
  Setting setting;
  const auto parsed = schedule::parse_loop(kTwoLoads, "test");
  const auto answer = solve::solve(parsed->problem, {});
  const auto checked = verify::verify(parsed->problem, *answer.schedule);
  setting.mechanisms = {Mechanism::cp_async, Mechanism::tma_load, std::nullopt};
  const auto mixed = draft_plan(*checked, setting);
  ASSERT_TRUE(mixed.has_value());
  EXPECT_EQ(mixed->channels.size(), 2U);
  EXPECT_EQ(rule_of(*mixed), "");
}

TEST(Copies, AreFencedByTheirReader) {
  Plan plan = copies_plan(kTwoLoads, 2);
  std::size_t dropped = 0;
  for (std::vector<Step>* steps : sequences(plan)) dropped += std::erase_if(*steps, is_proxy_fence);
  EXPECT_GT(dropped, 0U);
  EXPECT_EQ(rule_of(plan), "fence");
}

// A fence before the wait does not cover copies that land until the wait ends.
TEST(Copies, AreFencedBehindTheWait) {
  Plan plan = copies_plan(kTwoLoads, 2);
  for (std::vector<Step>* steps : sequences(plan)) {
    for (std::size_t i = 1; i < steps->size(); ++i) {
      const bool swaps = is_proxy_fence((*steps)[i]) && (*steps)[i - 1].kind == StepKind::wait;
      if (swaps) std::swap((*steps)[i], (*steps)[i - 1]);
    }
  }
  EXPECT_EQ(rule_of(plan), "fence");
}

TEST(Copies, CountEveryThread) {
  Plan plan = copies_plan(kTwoLoads, 2);
  plan.channels[0].full_arrivals = 4 * 32;
  EXPECT_EQ(rule_of(plan), "arrivals");
}

}  // namespace
}  // namespace twill::plan::testing
