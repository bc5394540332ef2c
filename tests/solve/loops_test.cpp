#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "solve/proof_checker.h"
#include "solve/solve_text.h"
#include "twill/problem/problem.h"
#include "twill/solve/proof.h"

// Protects the optima of the bundled loops. They were first found, and checked in other ways, with
// a prototype of this solver. These tests protect the encoding as a whole and the search.
namespace twill::solve {
namespace {

using schedule::Answer;
using schedule::BoundKind;
using schedule::Verdict;
using solve_test::bundled;
using solve_test::solve_checked;

struct Optimum {
  std::string loop;
  Cycles ii;
  bool above_min_ii;  ///< the bound needs a search
  std::int64_t groups, crossings, length;
};

class BundledLoop : public testing::TestWithParam<Optimum> {};

TEST_P(BundledLoop, HasItsOptimumAndAProof) {
  const Optimum& expected = GetParam();
  std::ostringstream text;
  TextProof proof(text);
  Options options;
  options.proof = &proof;
  const Answer answer = solve_checked(bundled(expected.loop), options);
  ASSERT_EQ(answer.verdict, Verdict::optimal);
  EXPECT_EQ(answer.schedule->initiation_interval, expected.ii);
  EXPECT_EQ(answer.lower_bound.value, expected.ii);
  EXPECT_EQ(answer.lower_bound.kind == BoundKind::search, expected.above_min_ii);
  ASSERT_EQ(answer.objectives.size(), 4U);
  EXPECT_EQ(answer.objectives[1].value, expected.groups);
  EXPECT_EQ(answer.objectives[2].value, expected.crossings);
  EXPECT_EQ(answer.objectives[3].value, expected.length);
  for (const auto& level : answer.objectives) EXPECT_TRUE(level.proven) << level.name;

  solve_test::ProofChecker checker;
  std::istringstream lines(text.str());
  EXPECT_EQ(checker.check(lines), "");
  if (expected.above_min_ii) {
    const std::string refuted = "t II " + std::to_string(expected.ii - 1) + "\n";
    EXPECT_NE(text.str().find(refuted), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Optima, BundledLoop,
    testing::Values(
        Optimum{"fig1", 2, false, 1, 0, 4}, Optimum{"gemm", 512, false, 2, 0, 512},
        Optimum{"fwd_h1", 1262, true, 2, 0, 2460}, Optimum{"fwd_h2", 2048, false, 3, 0, 3072},
        Optimum{"fwd_h1big", 2722, true, 3, 2, 4770}, Optimum{"fwd_b1", 1676, true, 4, 3, 4564},
        Optimum{"fwd_b2", 2064, false, 5, 2, 4112}, Optimum{"fwd_b2_2wg", 2272, true, 4, 0, 5568},
        Optimum{"bwd_h1", 1532, true, 3, 0, 2556}, Optimum{"bwd_h2", 2560, false, 4, 0, 3328},
        Optimum{"bwd_b1", 2802, true, 4, 1, 7140}, Optimum{"bwd_b2", 2560, false, 4, 0, 5020},
        Optimum{"transfers/fwd_h2_transfers", 2048, false, 3, 0, 3072},
        Optimum{"transfers/fwd_b2_transfers", 2064, false, 5, 2, 4112},
        Optimum{"transfers/bwd_h2_transfers", 2560, false, 4, 0, 3328},
        Optimum{"transfers/bwd_b2_transfers", 2560, false, 4, 0, 5020}),
    [](const auto& it) {
      std::string name = it.param.loop;
      std::replace(name.begin(), name.end(), '/', '_');
      return name;
    });

problem::Problem with_registers(const std::string& loop, int registers) {
  problem::Parts parts = bundled(loop).parts();
  for (problem::Group& group : parts.groups) {
    if (group.warps == 4) group.registers = registers;
  }
  return *problem::pose(std::move(parts));
}

/// Ops of each compute group of four warps.
std::set<std::set<std::string>> warpgroups(const problem::Problem& problem, const Answer& answer) {
  std::map<std::size_t, std::set<std::string>> ops;
  for (std::size_t i = 0; i < problem.ops().size(); ++i) {
    const auto group = answer.schedule->ops[i].group;
    if (problem[group].warps == 4) ops[group.index()].insert(problem.ops()[i].name);
  }
  std::set<std::set<std::string>> out;
  for (const auto& [group, names] : ops) out.insert(names);
  return out;
}

// Protects FA4's roles as the optimum on Blackwell: two softmax groups, and one group that rescales
// the outputs of both sub-tiles.
TEST(Strategies, BlackwellForwardHasACorrectionGroup) {
  const problem::Problem problem = bundled("fwd_b2");
  const Answer answer = solve_checked(problem);
  const std::set<std::string> correction = {"ldOA", "rescA", "stOA", "ldOB", "rescB", "stOB"};
  const auto groups = warpgroups(problem, answer);
  EXPECT_EQ(groups.size(), 3U);
  EXPECT_TRUE(groups.contains(correction));
}

// Protects ping-pong on Hopper: every warpgroup has one sub-tile, and in only one of them a product
// is a stage late.
TEST(Strategies, HopperForwardIsPingPong) {
  const problem::Problem problem = bundled("fwd_h2");
  const Answer answer = solve_checked(problem);
  const auto groups = warpgroups(problem, answer);
  ASSERT_EQ(groups.size(), 2U);
  for (const auto& ops : groups) {
    const char tile = ops.begin()->back();
    for (const std::string& op : ops) EXPECT_EQ(op.back(), tile);
  }
  std::set<Cycles> stages;
  for (std::size_t i = 0; i < problem.ops().size(); ++i) {
    const std::string& name = problem.ops()[i].name;
    if (name == "pvA" || name == "pvB") {
      stages.insert(schedule::stage_of(*answer.schedule, schedule::OpId(i)));
    }
  }
  EXPECT_EQ(stages, (std::set<Cycles>{0, 1}));
}

// Protects: with fewer registers, Blackwell backward needs three warpgroups instead of two, at the
// same II.
TEST(Strategies, BlackwellBackwardNeedsAThirdGroupForRegisters) {
  for (const auto& [registers, groups] : {std::pair(128, 2U), std::pair(120, 3U)}) {
    const problem::Problem problem = with_registers("bwd_b2", registers);
    const Answer answer = solve_checked(problem);
    ASSERT_EQ(answer.verdict, Verdict::optimal);
    EXPECT_EQ(answer.schedule->initiation_interval, 2560);
    EXPECT_EQ(warpgroups(problem, answer).size(), groups) << registers;
  }
}

// Protects infeasibility by registers alone, found by search, and the least number that works.
TEST(Strategies, HopperBackwardNeedsRegisters) {
  EXPECT_EQ(solve_test::optimal_interval(with_registers("bwd_h2", 192)), 2560);
  EXPECT_EQ(solve_test::optimal_interval(with_registers("bwd_h2", 191)), 0);
}

}  // namespace
}  // namespace twill::solve
