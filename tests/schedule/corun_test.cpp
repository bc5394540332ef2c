#include "twill/schedule/corun.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "twill/problem/problem.h"

namespace twill::schedule {
namespace {

using problem::Alternative;
using problem::Dependence;
using problem::Op;
using problem::Parts;
using problem::UnitId;

Op op(const char* name, Alternative alternative, bool asynchronous = false) {
  Op result;
  result.name = name;
  result.alternatives = {std::move(alternative)};
  result.asynchronous = asynchronous;
  return result;
}

Dependence edge(std::size_t from, std::size_t to, int distance) {
  Dependence result;
  result.from = OpId(from);
  result.to = OpId(to);
  result.distance = distance;
  result.carries_value = false;
  return result;
}

/// Makes an alternative on pipe 0 that takes `demand` cycles of the pipe in `latency` cycles.
Alternative on_pipe(Cycles demand, Cycles latency) {
  Alternative alternative;
  alternative.latency = latency;
  alternative.issue = latency;
  alternative.pipes = {{problem::PipeId(0), demand}};
  return alternative;
}

/// Makes a tensor-core product that takes `demand` cycles of pipe 0 while it holds the unit.
Alternative on_unit(Cycles occupancy, Cycles latency, Cycles demand) {
  Alternative alternative;
  alternative.unit = UnitId(0);
  alternative.occupancy = occupancy;
  alternative.latency = latency;
  alternative.issue = 1;
  if (demand > 0) alternative.pipes = {{problem::PipeId(0), demand}};
  return alternative;
}

Parts parts_with(int groups) {
  Parts parts;
  parts.name = "loop";
  parts.units = {{"TC"}};
  parts.pipes = {{"MUFU"}};
  for (int g = 0; g < groups; ++g) parts.groups.push_back({"G" + std::to_string(g), 4, 0, false});
  return parts;
}

CoRun run(const Parts& parts, const Order& order, Turns turns = Turns::enforced) {
  const auto posed = problem::pose(parts);
  EXPECT_TRUE(posed.has_value()) << (posed ? "" : to_string(posed.error()));
  const auto result = co_run(posed.value(), order, turns);
  EXPECT_TRUE(result.has_value()) << (result ? "" : to_string(result.error()));
  return result.value();
}

/// Makes an order in which op i runs in group i.
Order one_each(std::size_t ops, std::vector<OpId> turns = {}) {
  Order order;
  for (std::size_t i = 0; i < ops; ++i) {
    order.ops.push_back({0, GroupId(i), 0});
    order.groups.push_back({OpId(i)});
  }
  order.units = {std::move(turns)};
  return order;
}

// Protects: an op alone takes its latency, whatever part of its pipe stays idle.
TEST(CoRun, AnOpAloneRunsAtFullSpeed) {
  Parts parts = parts_with(1);
  parts.ops = {op("exp", on_pipe(60, 100))};
  EXPECT_NEAR(run(parts, one_each(1)).interval, 100, 0.01);
}

// Protects: two groups that want 60 % of a pipe each get half of the pipe each. The waiting inside
// an op is not stretched, so the op takes 2 x 60 + 40 cycles, not 2 x 100. Three quarters of the
// demand do not collide.
TEST(CoRun, GroupsShareAPipe) {
  Parts parts = parts_with(2);
  parts.ops = {op("a", on_pipe(100, 100)), op("b", on_pipe(100, 100))};
  EXPECT_NEAR(run(parts, one_each(2)).interval, 200, 0.01);
  parts.ops = {op("a", on_pipe(60, 100)), op("b", on_pipe(60, 100))};
  const double interval = run(parts, one_each(2)).interval;
  EXPECT_GE(interval, 120);
  EXPECT_LE(interval, 160.01);
}

// Protects the guaranteed halves. Beside a product that takes a quarter of the pipe, the group gets
// the rest. Beside a product that would take three quarters, the group still gets half, and the
// product slows down.
TEST(CoRun, TheUnitAndTheGroupsAreEachGuaranteedHalfOfAPipe) {
  Parts parts = parts_with(2);
  parts.ops = {op("mma", on_unit(100, 100, 25), true), op("exp", on_pipe(75, 75))};
  const CoRun light = run(parts, one_each(2, {OpId(0)}));
  EXPECT_NEAR(light.interval, 100, 0.01);
  EXPECT_NEAR(light.unit_busy[0], 1, 0.01);
  parts.ops = {op("mma", on_unit(100, 100, 75), true), op("exp", on_pipe(75, 75))};
  EXPECT_NEAR(run(parts, one_each(2, {OpId(0)})).interval, 150, 0.01);
}

// Protects: beside a stream that takes part of a port, the pipes of a group no longer overlap. So
// 60 + 60 cycles on two pipes take 120. The product streams for 100 cycles a round: five sixths of
// the op are done beside the product, and the rest in 10 cycles more.
TEST(CoRun, PortsKeepPipesFromOverlapping) {
  Parts parts = parts_with(2);
  parts.pipes = {{"MUFU"}, {"ALU"}, {"RF", true}};
  Alternative both = on_pipe(60, 60);
  both.pipes = {{problem::PipeId(0), 60}, {problem::PipeId(1), 60}, {problem::PipeId(2), 30}};
  parts.ops = {op("mma", on_unit(100, 100, 0), true), op("exp", both)};
  parts.ops[0].alternatives[0].pipes = {{problem::PipeId(2), 50}};
  EXPECT_NEAR(run(parts, one_each(2, {OpId(0)})).interval, 110, 1);
  parts.pipes[2].port = false;
  EXPECT_NEAR(run(parts, one_each(2, {OpId(0)})).interval, 100, 0.01);
}

// Protects: a group waits for the result of its product, tail included, before it goes on.
TEST(CoRun, WaitsForResults) {
  Parts parts = parts_with(1);
  parts.ops = {op("mma", on_unit(100, 130, 0), true), op("exp", on_pipe(50, 50))};
  parts.dependences = {edge(0, 1, 0), edge(1, 0, 1)};
  Order order;
  order.ops = {{0, GroupId(0), 0}, {0, GroupId(0), 0}};
  order.groups = {{OpId(0), OpId(1)}};
  order.units = {{OpId(0)}};
  const CoRun result = run(parts, order);
  EXPECT_NEAR(result.interval, 180, 0.01);
  EXPECT_NEAR(result.unit_busy[0], 100 / 180.0, 0.02);
}

// Protects: with the product one stage later, the same loop overlaps it with the exponentials of
// the next iteration.
TEST(CoRun, StagesOverlapIterations) {
  Parts parts = parts_with(1);
  parts.ops = {op("exp", on_pipe(100, 100)), op("mma", on_unit(100, 100, 0), true)};
  parts.dependences = {edge(0, 1, 0)};
  Order order;
  order.ops = {{0, GroupId(0), 0}, {1, GroupId(0), 0}};
  order.groups = {{OpId(1), OpId(0)}};
  order.units = {{OpId(1)}};
  EXPECT_NEAR(run(parts, order).interval, 101, 0.01);
}

// Protects: a unit serves two groups in turn under both rules. Turns that contradict the operands
// stop the loop only where they are enforced.
TEST(CoRun, TurnsAreEnforcedOrFirstCome) {
  Parts parts = parts_with(2);
  parts.ops = {op("a", on_unit(10, 10, 0), true), op("b", on_unit(10, 10, 0), true)};
  const Order order = one_each(2, {OpId(1), OpId(0)});
  EXPECT_NEAR(run(parts, order, Turns::enforced).interval, 20, 0.01);
  EXPECT_NEAR(run(parts, order, Turns::first_come).interval, 20, 0.01);
  parts.dependences = {edge(0, 1, 0)};
  const auto posed = problem::pose(parts);
  ASSERT_TRUE(posed.has_value());
  Order blocked = order;  // b needs a of the same iteration, but goes first on the unit
  EXPECT_FALSE(co_run(*posed, blocked, Turns::enforced).has_value());
  EXPECT_TRUE(co_run(*posed, blocked, Turns::first_come).has_value());
}

// Protects: an order in which every group waits for a later op is refused instead of run for ever.
TEST(CoRun, StandstillIsReported) {
  Parts parts = parts_with(1);
  parts.ops = {op("a", on_pipe(10, 10)), op("b", on_pipe(10, 10))};
  parts.dependences = {edge(0, 1, 0)};
  const auto posed = problem::pose(parts);
  ASSERT_TRUE(posed.has_value());
  Order order;
  order.ops = {{0, GroupId(0), 0}, {0, GroupId(0), 0}};
  order.groups = {{OpId(1), OpId(0)}};
  order.units = {{}};
  const auto result = co_run(*posed, order, Turns::enforced);
  ASSERT_FALSE(result.has_value());
  EXPECT_NE(result.error().message.find("standstill"), std::string::npos);
}

}  // namespace
}  // namespace twill::schedule
