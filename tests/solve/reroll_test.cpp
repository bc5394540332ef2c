#include "twill/solve/reroll.h"

#include <algorithm>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "solve/random_problem.h"
#include "solve/rounds.h"
#include "solve/solve_text.h"
#include "twill/problem/problem.h"
#include "twill/schedule/bounds.h"
#include "twill/verify/verify.h"

// Protects the recognition of loops unrolled in the source. Rerolled, they are the original loop,
// and its schedule, once per turn, is one of theirs.
namespace twill::solve {
namespace {

using problem::Dependence;
using problem::OpId;
using problem::Parts;
using problem::Problem;
using solve_test::bundled;

/// Joins `turns` iterations of the loop into one, all ops of an iteration before those of the next.
Problem unroll(const Problem& loop, int turns) {
  Parts parts = loop.parts();
  const int count = static_cast<int>(loop.ops().size());
  parts.ops.clear();
  parts.dependences.clear();
  for (int turn = 0; turn < turns; ++turn) {
    for (problem::Op op : loop.ops()) {
      op.name += "_" + std::to_string(turn);
      parts.ops.push_back(std::move(op));
    }
    for (Dependence it : loop.dependences()) {
      const int writer = ((turn - it.distance) % turns + turns) % turns;
      it.distance = (it.distance - turn + writer) / turns;
      it.from = OpId(static_cast<std::size_t>(writer * count) + it.from.index());
      it.to = OpId(static_cast<std::size_t>(turn * count) + it.to.index());
      parts.dependences.push_back(it);
    }
  }
  auto problem = problem::pose(std::move(parts));
  if (!problem) throw std::runtime_error(to_string(problem.error()));
  return *std::move(problem);
}

// Protects: the paper's loops are found again, also loops with isomorphic sub-tiles.
TEST(Reroll, FindsTheLoopThatWasUnrolled) {
  for (const char* name : {"fig1", "gemm", "fwd_h1", "fwd_h2", "fwd_b1", "fwd_b2", "bwd_h1",
                           "bwd_h2", "bwd_b1", "bwd_b2", "meta_fwd", "meta_fwdsub"}) {
    const Problem loop = bundled(name);
    for (const int turns : {2, 3, 4, 7}) {
      const auto rerolled = reroll(unroll(loop, turns));
      ASSERT_TRUE(rerolled.has_value()) << name << " x " << turns;
      EXPECT_EQ(rerolled->turns % static_cast<std::size_t>(turns), 0) << name;
      EXPECT_EQ(rerolled->loop.ops().size() * rerolled->turns,
                loop.ops().size() * static_cast<std::size_t>(turns));
      if (rerolled->turns != static_cast<std::size_t>(turns)) continue;
      EXPECT_EQ(schedule::min_ii(rerolled->loop).value, schedule::min_ii(loop).value) << name;
    }
  }
}

// Protects: a loop that is unrolled except for one number is another loop.
TEST(Reroll, LeavesOtherLoopsAlone) {
  for (const char* name : {"fig1", "gemm", "fwd_h1", "fwd_h2", "bwd_b2", "meta_fwdsub"}) {
    EXPECT_FALSE(reroll(bundled(name)).has_value()) << name;
  }
  const Problem twice = unroll(bundled("fwd_h1"), 2);
  for (std::size_t op = 0; op < twice.ops().size(); ++op) {
    Parts parts = twice.parts();
    ++parts.ops[op].alternatives[0].latency;
    EXPECT_FALSE(reroll(*problem::pose(std::move(parts))).has_value()) << twice.ops()[op].name;
  }
  for (std::size_t it = 0; it < twice.dependences().size(); ++it) {
    Parts parts = twice.parts();
    ++parts.dependences[it].transfer;
    EXPECT_FALSE(reroll(*problem::pose(std::move(parts))).has_value()) << it;
  }
}

// Protects: a schedule of the loop, once per turn, keeps all rules of the unrolled loop except
// placement. The verifier decides, on random loops with a little of everything.
TEST(Reroll, TurnsOfAScheduleKeepTheRules) {
  std::mt19937 random(20261123);
  int checked = 0;
  for (int round = 0; round < solve_test::rounds(1200); ++round) {
    Problem loop = solve_test::random_problem(random, {});
    if (round % 3 == 0) loop = solve_test::with_tight_memory(random, loop);
    if (round % 4 == 0) loop = solve_test::with_register_budget(random, loop);
    const int turns = 2 + round % 3;
    const Problem longer = unroll(loop, turns);
    const auto rerolled = reroll(longer);
    if (!rerolled) continue;
    const schedule::Answer one = solve(rerolled->loop);
    if (!one.schedule) continue;
    Parts parts = longer.parts();
    if (longer.in_force(problem::Rule::placement)) {
      parts.relaxed.push_back(problem::Rule::placement);
      std::sort(parts.relaxed.begin(), parts.relaxed.end());
    }
    const auto result =
        verify::verify(*problem::pose(std::move(parts)), unrolled(*rerolled, *one.schedule));
    ASSERT_TRUE(result.has_value()) << round << ": " << result.error().front().message;
    ++checked;
  }
  EXPECT_GE(checked, 150);
}

// Protects large loops: 160 to 320 ops, for which the search alone finds no schedule within twice
// the bound. They get the least II, proven, with little work.
TEST(Reroll, LargeUnrolledLoopsGetTheirLeastInterval) {
  const std::pair<const char*, int> loops[] = {{"fwd_b2", 5}, {"fwd_h2", 13}, {"fwd_b2", 10}};
  for (const auto& [name, turns] : loops) {
    const Problem loop = unroll(bundled(name), turns);
    Options options;
    options.work_limit = 60'000'000;
    const schedule::Answer answer = solve_test::solve_checked(loop, options);
    ASSERT_TRUE(answer.schedule.has_value()) << name;
    EXPECT_EQ(answer.schedule->initiation_interval, turns * (name[4] == 'b' ? 2064 : 2048));
    EXPECT_EQ(answer.lower_bound.value, answer.schedule->initiation_interval);
  }
}

}  // namespace
}  // namespace twill::solve
