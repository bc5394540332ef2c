// Protects: strategies that experts found by hand are proven optima of the search when the costs
// are those of published rates (loops/*.loop). The tests assert the properties that define a
// strategy, not cycles: the ops of each role, the turns, and the ops in the prologue.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paper/paper_loop.h"
#include "twill/problem/problem.h"
#include "twill/solve/solve.h"
#include "twill/verify/verify.h"

namespace twill {
namespace {

using problem::GroupId;
using problem::OpId;
using problem::Problem;
using schedule::Schedule;

Problem bundled(const std::string& name) { return paper_test::loop_text(name).problem; }

/// Loop and its checked, proven optimum, with names instead of ids.
struct Optimum {
  Problem problem;
  Schedule schedule;

  OpId op(const std::string& name) const {
    for (std::size_t i = 0; i < problem.ops().size(); ++i) {
      if (problem.ops()[i].name == name) return OpId(i);
    }
    throw std::runtime_error("no op " + name);
  }
  Cycles stage(const std::string& name) const { return schedule::stage_of(schedule, op(name)); }
  Cycles slot(const std::string& name) const { return schedule::slot_of(schedule, op(name)); }
  GroupId group(const std::string& name) const { return schedule.ops[op(name).index()].group; }

  /// Ops of each used group.
  std::map<GroupId, std::set<std::string>> groups() const {
    std::map<GroupId, std::set<std::string>> groups;
    for (std::size_t i = 0; i < problem.ops().size(); ++i) {
      groups[schedule.ops[i].group].insert(problem.ops()[i].name);
    }
    return groups;
  }

  /// Counts used groups of four warps that are no load group.
  std::size_t compute_groups() const {
    std::size_t count = 0;
    for (const auto& [group, ops] : groups()) {
      if (!problem[group].loads && problem[group].warps == 4) ++count;
    }
    return count;
  }
};

/// Solves and checks: the tests below are about a proven and verified optimum.
Optimum optimum_by_rules(Problem problem) {
  const schedule::Answer answer = solve::solve(problem);
  EXPECT_EQ(answer.verdict, schedule::Verdict::optimal) << answer.argument;
  if (!answer.schedule) throw std::runtime_error("no schedule");
  EXPECT_TRUE(verify::verify(problem, *answer.schedule));
  return {std::move(problem), *answer.schedule};
}

/// Sorts products by the order in which the tensor core runs them in one interval.
std::vector<std::string> in_slot_order(const Optimum& found, std::vector<std::string> ops) {
  std::sort(ops.begin(), ops.end(), [&](const std::string& a, const std::string& b) {
    return found.slot(a) < found.slot(b);
  });
  return ops;
}

// Protects Flash Attention 3 on Hopper: each warpgroup has one sub-tile to itself, and no value
// changes groups.
TEST(FlashAttention3, EachWarpgroupHasItsOwnSubTile) {
  const Optimum found = optimum_by_rules(bundled("fwd_h2"));
  EXPECT_EQ(found.schedule.initiation_interval, 2048);
  EXPECT_EQ(found.compute_groups(), 2U);
  for (const auto& [group, ops] : found.groups()) {
    std::set<char> sub_tiles;
    for (const std::string& name : ops) {
      if (!found.problem[group].loads) sub_tiles.insert(name.back());
    }
    EXPECT_LE(sub_tiles.size(), 1U) << found.problem[group].name;
  }
}

// Protects ping-pong: the warpgroups take turns on the tensor core (two products of one, then two
// of the other). The exponentials of each run beside products of the other.
TEST(FlashAttention3, PingPong) {
  const Optimum found = optimum_by_rules(bundled("fwd_h2"));
  const auto order = in_slot_order(found, {"qkA", "pvA", "qkB", "pvB"});
  int changes = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    changes += order[i].back() != order[(i + 1) % order.size()].back() ? 1 : 0;
  }
  EXPECT_EQ(changes, 2) << order[0] << order[1] << order[2] << order[3];
}

// Protects pipelining within a warpgroup: one product, of P and V of one sub-tile, stands in the
// prologue. The paper remarks that the other sub-tile needs no prologue.
TEST(FlashAttention3, OneProductInThePrologue) {
  const Optimum found = optimum_by_rules(bundled("fwd_h2"));
  const Cycles a = found.stage("pvA") - found.stage("qkA");
  const Cycles b = found.stage("pvB") - found.stage("qkB");
  EXPECT_EQ(std::min(a, b), 0);
  EXPECT_EQ(std::max(a, b), 1);
}

// Protects Flash Attention 4 on Blackwell: loads, tensor-core issue, two softmax groups with one
// sub-tile each, and one group that corrects the accumulators of both.
TEST(FlashAttention4, FiveRoles) {
  const Optimum found = optimum_by_rules(bundled("fwd_b2"));
  EXPECT_EQ(found.groups().size(), 5U);
  EXPECT_NE(found.group("expA"), found.group("expB"));
  EXPECT_EQ(found.group("ldOA"), found.group("ldOB"));
  EXPECT_EQ(found.group("stOA"), found.group("stOB"));
  EXPECT_NE(found.group("ldOA"), found.group("expA"));
  EXPECT_NE(found.group("ldOA"), found.group("expB"));
  for (const char sub_tile : {'A', 'B'}) {
    const std::string tail(1, sub_tile);
    EXPECT_EQ(found.group("ldS" + tail), found.group("exp" + tail));
    EXPECT_EQ(found.group("rmax" + tail), found.group("exp" + tail));
    EXPECT_EQ(found.group("resc" + tail), found.group("ldO" + tail));
    EXPECT_EQ(found.problem[found.group("qk" + tail)].warps, 1);
    EXPECT_EQ(found.group("qk" + tail), found.group("qkA"));
    EXPECT_EQ(found.group("pv" + tail), found.group("qkA"));
  }
}

// Protects: both products of P and V run one iteration after those of Q and K.
TEST(FlashAttention4, BothSecondProductsInTheNextStage) {
  const Optimum found = optimum_by_rules(bundled("fwd_b2"));
  EXPECT_EQ(found.stage("pvA") - found.stage("qkA"), 1);
  EXPECT_EQ(found.stage("pvB") - found.stage("qkB"), 1);
}

// Protects: the backward pass on Blackwell needs two compute groups.
TEST(BackwardOnBlackwell, TwoGroups) {
  const Optimum found = optimum_by_rules(bundled("bwd_b2"));
  EXPECT_EQ(found.schedule.initiation_interval, 2560);
  EXPECT_EQ(found.compute_groups(), 2U);
}

// Protects: with 120 registers a thread or fewer, a third group pays off; two groups are slower.
TEST(BackwardOnBlackwell, ThreeGroupsWhenRegistersAreShort) {
  problem::Parts parts = bundled("bwd_b2").parts();
  for (problem::Group& group : parts.groups) {
    if (group.warps == 4) group.registers = std::min(group.registers, 120);
  }
  auto problem = problem::pose(std::move(parts));
  ASSERT_TRUE(problem);
  const Optimum found = optimum_by_rules(*std::move(problem));
  EXPECT_EQ(found.schedule.initiation_interval, 2560);
  EXPECT_EQ(found.compute_groups(), 3U);
}

}  // namespace
}  // namespace twill
