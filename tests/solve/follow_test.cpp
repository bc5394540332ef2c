#include "twill/solve/follow.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

#include "solve/random_problem.h"
#include "solve/solve_text.h"
#include "twill/problem/problem.h"

namespace twill::solve {
namespace {

using problem::Problem;
using solve_test::problem_of;
using solve_test::random_problem;

using CycleChange = Cycles (*)(Cycles);

/// Changes all times of the Problem.
Problem changed(const Problem& problem, CycleChange change) {
  problem::Parts parts = problem.parts();
  for (problem::Op& op : parts.ops) {
    for (problem::Alternative& alternative : op.alternatives) {
      for (Cycles* time : {&alternative.latency, &alternative.occupancy, &alternative.issue})
        *time = change(*time);
      for (problem::PipeUse& use : alternative.pipes) use.demand = change(use.demand);
    }
  }
  for (problem::Dependence& it : parts.dependences) {
    if (it.delay) it.delay = change(*it.delay);
    it.transfer = change(it.transfer);
  }
  auto posed = problem::pose(std::move(parts));
  if (!posed) ADD_FAILURE() << "not posed";
  return *std::move(posed);
}

constexpr CycleChange kChanges[] = {[](Cycles time) { return time * 2; },
                                    [](Cycles time) { return time == 0 ? 0 : time + 1; },
                                    [](Cycles time) { return (time + 1) / 2; }};

// Protects answers without a search: a schedule's own structure is always found again, no slower.
// For the loop with other times, the result obeys the rules and is no faster than the optimum.
TEST(Follow, KeepsTheRules) {
  std::mt19937 random(61);
  int found = 0;
  for (int round = 0; round < 150; ++round) {
    Problem problem =
        random_problem(random, {.ops = 3 + round % 4, .groups = 2, .alternatives = 1 + round % 2});
    std::mt19937 own(static_cast<unsigned>(round));
    if (round % 4 == 1) problem = solve_test::with_tight_memory(own, problem);
    if (round % 4 == 3) problem = solve_test::with_transfer_ops(random, problem);
    SCOPED_TRACE("round " + std::to_string(round) + "\n" +
                 schedule::print_loop(schedule::loop_text_of(problem)));
    const schedule::Answer answer = solve_test::solve_checked(problem);
    if (!answer.schedule) continue;
    const auto same = follow(problem, *answer.schedule);
    ASSERT_TRUE(same);
    EXPECT_LE(same->initiation_interval, answer.schedule->initiation_interval);
    EXPECT_TRUE(verify::verify(problem, *same));
    for (const CycleChange change : kChanges) {
      const Problem other = changed(problem, change);
      const auto there = follow(other, *answer.schedule);
      if (!there) continue;
      ++found;
      EXPECT_TRUE(verify::verify(other, *there));
      EXPECT_GE(there->initiation_interval, solve_test::optimal_interval(other));
    }
  }
  EXPECT_GT(found, 200);
}

// Protects: a schedule with other groups, alternatives or ops gives no result.
TEST(Follow, TakesWhatIsOfAnotherLoop) {
  const Problem two = problem_of("loop x\ngroup G\ngroup H\nop a issue 2\nop b issue 2\n");
  const Problem one = problem_of("loop x\ngroup G\nop a issue 2\nop b issue 2\n");
  const Problem more = problem_of("loop x\ngroup G\ngroup H\nop a issue 2\nop b\nop c\n");
  const schedule::Answer answer = solve_test::solve_checked(two);
  ASSERT_TRUE(answer.schedule);
  ASSERT_EQ(answer.schedule->initiation_interval, 2) << "one op in each group";
  EXPECT_FALSE(follow(one, *answer.schedule));
  EXPECT_FALSE(follow(more, *answer.schedule));
}

}  // namespace
}  // namespace twill::solve
