// Flash Attention 3 and 4 as published. Their papers give an order, and Twill finds the cycles.
// Under the costs of the bundled loops, both orders reach the least possible interval. Protects the
// meaning of `order`, of the costs in loops/, and the claim that these files are correct schedules.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "twill/problem/problem.h"
#include "twill/schedule/analysis.h"
#include "twill/schedule/least_interval.h"
#include "twill/schedule/loop_text.h"
#include "twill/verify/verify.h"

namespace twill::verify {
namespace {

using schedule::LeastInterval;
using schedule::LoopText;
using schedule::Order;

std::string text_of(const std::string& file) {
  std::ifstream stream(std::filesystem::path(TWILL_SOURCE_DIR) / "loops" / file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

LoopText loop_in(const std::string& file) {
  Result<LoopText> loop = schedule::parse_loop(text_of(file), file);
  if (!loop) ADD_FAILURE() << to_string(loop.error());
  return *std::move(loop);
}

/// Lists the violations of the schedule, one a line; empty if there are none.
std::string objections(const Problem& problem, const Schedule& schedule) {
  const auto checked = verify(problem, schedule);
  std::string lines;
  if (checked) return lines;
  for (const Violation& violation : checked.error()) lines += violation.message + "\n";
  return lines;
}

OpId op_called(const Problem& problem, const std::string& name) {
  for (std::size_t i = 0; i < problem.ops().size(); ++i) {
    if (problem.ops()[i].name == name) return OpId(i);
  }
  ADD_FAILURE() << "no op " << name;
  return OpId(0);
}

std::string group_of(const LoopText& loop, const std::string& op) {
  const auto at = loop.schedule->ops[op_called(loop.problem, op).index()];
  return loop.problem[at.group].name;
}

Cycles stage(const LoopText& loop, const std::string& op) {
  return schedule::stage_of(*loop.schedule, op_called(loop.problem, op));
}

struct Published {
  std::string file;
  std::string loop;
  Cycles interval;  // also the load of its busiest unit: no schedule can be faster
  std::string unit;
};

class PublishedSchedule : public testing::TestWithParam<Published> {};

TEST_P(PublishedSchedule, IsVerifiedAndAsFastAsItsBusiestUnit) {
  const LoopText loop = loop_in(GetParam().file);
  ASSERT_TRUE(loop.schedule && loop.order);
  EXPECT_EQ(objections(loop.problem, *loop.schedule), "");
  EXPECT_EQ(loop.schedule->initiation_interval, GetParam().interval);
  const std::vector<Cycles> loads = schedule::unit_loads(loop.problem, *loop.schedule);
  const auto busiest = std::max_element(loads.begin(), loads.end());
  EXPECT_EQ(*busiest, GetParam().interval);
  const auto unit = static_cast<std::size_t>(busiest - loads.begin());
  EXPECT_EQ(loop.problem.units()[unit].name, GetParam().unit);
}

TEST_P(PublishedSchedule, FollowsFromItsOrder) {
  const LoopText loop = loop_in(GetParam().file);
  const Result<LeastInterval> least = schedule::least_interval(loop.problem, *loop.order);
  ASSERT_TRUE(least) << to_string(least.error());
  EXPECT_EQ(least->initiation_interval, GetParam().interval);
  EXPECT_EQ(least->schedule, *loop.schedule);
}

TEST_P(PublishedSchedule, IsAsFastWhereGroupsIssueOneOpAtATime) {
  const LoopText loop = loop_in(GetParam().file);
  problem::Parts parts = loop.problem.parts();
  parts.relaxed.clear();
  const Problem strict = *problem::pose(parts);
  const Result<LeastInterval> least = schedule::least_interval(strict, *loop.order);
  ASSERT_TRUE(least) << to_string(least.error());
  EXPECT_EQ(least->initiation_interval, GetParam().interval);
  EXPECT_EQ(objections(strict, least->schedule), "");
}

TEST_P(PublishedSchedule, IsForTheBundledLoopAndReadsAsPrinted) {
  const LoopText loop = loop_in(GetParam().file);
  problem::Parts parts = loop.problem.parts();
  parts.name = GetParam().loop;
  EXPECT_EQ(parts, loop_in(GetParam().loop + ".loop").problem.parts());
  EXPECT_EQ(schedule::print_loop(loop), text_of(GetParam().file));
}

INSTANTIATE_TEST_SUITE_P(
    FlashAttention, PublishedSchedule,
    testing::Values(Published{"published/fa3_forward_hopper.loop", "fwd_h2", 2048, "TC"},
                    Published{"published/fa4_forward_blackwell.loop", "fwd_b2", 2064, "MUFU"}),
    [](const auto& published) { return published.param.loop; });

// Protects ping-pong: each warpgroup has one whole sub-tile, and they alternate on the tensor core.
// Only one of them multiplies P and V of the iteration before.
TEST(FlashAttention3, IsAPingPongWithOneProductInThePrologue) {
  const LoopText loop = loop_in("published/fa3_forward_hopper.loop");
  for (std::size_t i = 2; i < loop.problem.ops().size(); ++i) {
    const std::string& name = loop.problem.ops()[i].name;
    EXPECT_EQ(group_of(loop, name), name.back() == 'A' ? "WG0" : "WG1") << name;
  }
  EXPECT_EQ(stage(loop, "qkA"), 0);
  EXPECT_EQ(stage(loop, "pvA"), 0);
  EXPECT_EQ(stage(loop, "qkB"), 0);
  EXPECT_EQ(stage(loop, "pvB"), 1);
}

TEST(FlashAttention4, HasFiveRolesThatExchangeOnlyTheRescalingFactors) {
  const LoopText loop = loop_in("published/fa4_forward_blackwell.loop");
  EXPECT_EQ(schedule::used_groups(loop.problem, *loop.schedule).size(), 5U);
  EXPECT_EQ(group_of(loop, "rescA"), group_of(loop, "rescB"));
  EXPECT_NE(group_of(loop, "expA"), group_of(loop, "expB"));
  std::set<std::string> crossing;
  for (const problem::Dependence& edge : loop.problem.dependences()) {
    const auto& ops = loop.schedule->ops;
    const bool crosses = ops[edge.from.index()].group != ops[edge.to.index()].group;
    const problem::Op& from = loop.problem[edge.from];
    if (crosses && edge.carries_value && from.registers > 0) crossing.insert(from.name);
  }
  EXPECT_EQ(crossing, (std::set<std::string>{"alphaA", "alphaB"}));
}

}  // namespace
}  // namespace twill::verify
