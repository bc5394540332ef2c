#include "twill/driver/pools.h"

#include <string>

#include <gtest/gtest.h>

#include "twill/problem/problem.h"
#include "twill/schedule/loop_text.h"

namespace twill::driver {
namespace {

/// Makes two synchronous ops on two units, each holding its group for `busy` cycles. The least II
/// is 2 * busy with one issuing group, and busy with two groups.
PosedPool pool(const std::string& name, int groups, int busy, int registers = 100) {
  std::string text = "loop two\nunit A\nunit B\n";
  for (int i = 0; i < groups; ++i) {
    text += "group G" + std::to_string(i) + " registers " + std::to_string(registers) + "\n";
  }
  const std::string rest = " for " + std::to_string(busy) + " registers 64\n";
  text += "op a on A" + rest + "op b on B" + rest + "a -> b\n";
  auto loop = schedule::parse_loop(text, name);
  if (!loop) throw std::runtime_error(to_string(loop.error()));
  return {name, std::move(loop->problem), {}, {}, {}};
}

// The pool with the smallest II wins, at any place in the list, and both pools are named.
TEST(SolvePools, KeepsTheFastest) {
  const BestPool best = solve_pools({pool("one", 1, 10), pool("two", 2, 10)}, {});
  EXPECT_EQ(best.index, 1U);
  ASSERT_TRUE(best.answer.schedule);
  EXPECT_EQ(best.answer.schedule->initiation_interval, 10);
  EXPECT_EQ(best.answer.verdict, schedule::Verdict::optimal);
  ASSERT_EQ(best.tried.size(), 2U);
  EXPECT_EQ(best.tried[0].name, "one");
  EXPECT_NE(best.tried[0].result.find("at least 20"), std::string::npos) << best.tried[0].result;
  EXPECT_NE(best.tried[1].result.find("chosen"), std::string::npos) << best.tried[1].result;
}

// At equal II the objectives decide: one group wins over two groups if one is enough.
TEST(SolvePools, ObjectivesBreakTies) {
  const BestPool best = solve_pools({pool("narrow", 2, 10), pool("wide", 2, 10, 200)}, {});
  EXPECT_EQ(best.answer.schedule->initiation_interval, 10);
  EXPECT_EQ(best.index, 0U) << "equal answers: the first pool";
}

// A pool is not solved completely if it cannot improve on the best; the answer is still proven.
TEST(SolvePools, ComparesInsteadOfSolving) {
  const BestPool best = solve_pools({pool("narrow", 2, 10), pool("wide", 2, 10, 200)}, {});
  EXPECT_EQ(best.answer.verdict, schedule::Verdict::optimal);
  EXPECT_EQ(best.tried[1].result, "not better");
  const BestPool other = solve_pools({pool("wide", 2, 10, 200), pool("narrow", 2, 10)}, {});
  EXPECT_EQ(other.index, 0U);
  EXPECT_EQ(other.tried[1].result, "not better");
}

// A pool that cannot have the required compute groups does not win by using fewer groups.
TEST(SolvePools, PrefersPoolsThatMeetTheMinimum) {
  const auto with_minimum = [](const PosedPool& pool) {
    problem::Parts parts = pool.problem.parts();
    parts.minimum_compute_groups = static_cast<int>(parts.groups.size());
    parts.relaxed = {problem::Rule::one_stream};  // one group is as fast as two
    auto problem = problem::pose(std::move(parts));
    if (!problem) throw std::runtime_error(to_string(problem.error()));
    return PosedPool{pool.pool, *std::move(problem), {}, {}, {}};
  };
  const BestPool best = solve_pools(
      {with_minimum(pool("one", 1, 10, 200)), with_minimum(pool("two", 2, 10, 200))}, {});
  EXPECT_EQ(best.answer.schedule->initiation_interval, 10);
  EXPECT_EQ(best.index, 1U);
}

// A bound for a single pool is no bound for the answer.
TEST(SolvePools, BoundHoldsOverAllPools) {
  const BestPool best = solve_pools({pool("slow", 1, 30), pool("fast", 1, 10)}, {});
  EXPECT_EQ(best.answer.schedule->initiation_interval, 20);
  EXPECT_LE(best.answer.lower_bound.value, 20);
}

// Infeasible means infeasible in every pool; an infeasible pool cannot hide a feasible pool.
TEST(SolvePools, InfeasibleOnlyIfAllAre) {
  const BestPool none = solve_pools({pool("tiny", 1, 10, 8), pool("small", 1, 10, 16)}, {});
  EXPECT_EQ(none.answer.verdict, schedule::Verdict::infeasible);
  EXPECT_NE(none.answer.argument.find("tiny"), std::string::npos);
  EXPECT_NE(none.answer.argument.find("small"), std::string::npos);
  const BestPool some = solve_pools({pool("tiny", 1, 10, 8), pool("enough", 1, 10)}, {});
  EXPECT_EQ(some.answer.verdict, schedule::Verdict::optimal);
  EXPECT_EQ(some.index, 1U);
}

}  // namespace
}  // namespace twill::driver
