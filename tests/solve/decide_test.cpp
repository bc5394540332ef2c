#include "twill/solve/decide.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "solve/random_problem.h"
#include "solve/solve_text.h"

namespace twill::solve {
namespace {

using problem::Problem;
using solve_test::bundled;
using solve_test::random_problem;

// Protects the questions of explanations: yes, with a schedule that the checker accepts, from the
// optimum on, and no below the optimum.
TEST(Decide, AgreesWithTheOptimum) {
  std::mt19937 random(51);
  for (int round = 0; round < 150; ++round) {
    const Problem problem =
        random_problem(random, {.ops = 3 + round % 3, .groups = 2, .alternatives = 1 + round % 2});
    SCOPED_TRACE("round " + std::to_string(round) + "\n" +
                 schedule::print_loop(schedule::loop_text_of(problem)));
    const Cycles least = solve_test::optimal_interval(problem);
    ASSERT_GE(least, 0);
    EXPECT_FALSE(least > 0 && refute_all(problem).decided == Decided::infeasible);
    for (const Cycles ii : {Cycles{1}, least - 1, least, least + 1, Cycles{500}}) {
      if (ii < 1) continue;
      const Decision decision = decide(problem, ii);
      const bool possible = least > 0 && ii >= least;
      EXPECT_EQ(decision.decided, possible ? Decided::feasible : Decided::infeasible) << ii;
      ASSERT_EQ(decision.schedule.has_value(), possible);
      if (!possible) continue;
      EXPECT_LE(decision.schedule->initiation_interval, ii);
      EXPECT_TRUE(verify::verify(problem, *decision.schedule).has_value());
    }
  }
}

// Protects the comparison of pools. No schedule is better than the optimum; some schedule is better
// than values that are one worse at any level. The better schedule is shown.
TEST(DecideBetter, AgreesWithTheOptimum) {
  std::mt19937 random(52);
  for (int round = 0; round < 60; ++round) {
    const Problem problem =
        random_problem(random, {.ops = 3 + round % 3, .groups = 2, .alternatives = 1 + round % 2});
    SCOPED_TRACE("round " + std::to_string(round) + "\n" +
                 schedule::print_loop(schedule::loop_text_of(problem)));
    const schedule::Answer best = solve(problem);
    if (best.verdict != schedule::Verdict::optimal) continue;
    std::vector<std::int64_t> values;
    for (const auto& level : best.objectives) {
      values.push_back(level.value + 1);
      const Decision worse = decide_better(problem, values);
      EXPECT_EQ(worse.decided, Decided::feasible) << level.name;
      EXPECT_TRUE(worse.schedule && verify::verify(problem, *worse.schedule).has_value());
      --values.back();
      EXPECT_EQ(decide_better(problem, values).decided, Decided::infeasible) << level.name;
    }
  }
}

// Protects: a limit leaves the question open.
TEST(Decide, IsUndecidedAtALimit) {
  Options options;
  options.work_limit = 1;
  EXPECT_EQ(decide(bundled("fwd_b1"), 1500, options).decided, Decided::undecided);
  options = {};
  options.cancelled = [] { return true; };
  EXPECT_EQ(decide(bundled("fwd_b1"), 1500, options).decided, Decided::undecided);
  EXPECT_EQ(decide(bundled("fwd_b1"), 1000, options).decided, Decided::infeasible)
      << "a bound needs no search";
}

}  // namespace
}  // namespace twill::solve
