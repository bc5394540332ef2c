#include "twill/problem/staging.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "solve/random_problem.h"
#include "solve/solve_text.h"

// Protects: with `room_for_staging`, schedules leave memory for what their groups hand over, and
// the best of these is found.
namespace twill::solve {
namespace {

using problem::Problem;
using solve_test::problem_of;
using solve_test::solve_checked;

Options with_room() {
  Options options;
  options.room_for_staging = true;
  return options;
}

/// A value of 4096 bytes that has to change groups, beside a tile of one byte.
std::string crossing(int capacity) {
  return R"(loop crossing
minimum-compute-groups 2
unit A
unit B
unit TMA
memory SMEM capacity )" +
         std::to_string(capacity) + R"(
group L warps 1 loads
group G0 registers 8
group G1 registers 8
op load on TMA for 2 latency 4 warps 1 occupies SMEM 1 async streaming
op make on A for 4 latency 4 registers 8
op use on B for 4 latency 4
load -> make blocking read-hold 1
make -> use transfer 2
)";
}

TEST(RoomForStaging, IsLeftBesideOtherValues) {
  for (const int capacity : {4096, 4097}) {
    const Problem problem = problem_of(crossing(capacity));
    EXPECT_EQ(solve_checked(problem).verdict, schedule::Verdict::optimal);
    const auto expected =
        capacity == 4097 ? schedule::Verdict::optimal : schedule::Verdict::infeasible;
    EXPECT_EQ(solve_checked(problem, with_room()).verdict, expected) << capacity;
  }
}

/// Bytes that the schedule hands over.
Amount staged(const Problem& problem, const schedule::Schedule& schedule) {
  std::set<std::size_t> values;
  for (const problem::Dependence& it : problem.dependences()) {
    const problem::Op& value = problem[it.from];
    const bool held = it.carries_value && value.registers > 0 && value.footprint.empty();
    const bool crosses = schedule.ops[it.from.index()].group != schedule.ops[it.to.index()].group;
    if (held && crosses) values.insert(it.from.index());
  }
  Amount sum = 0;
  for (const std::size_t value : values) {
    sum += problem::staged_bytes(problem.ops()[value], problem.ops()[value].warps);
  }
  return sum;
}

/// The Problem with one memory of that capacity, which no value occupies.
Problem with_memory(const Problem& problem, Amount capacity) {
  problem::Parts parts = problem.parts();
  for (problem::Op& op : parts.ops) op.footprint.clear();
  parts.memories = {{"SMEM", capacity}};
  return *problem::pose(std::move(parts));
}

// No schedule that was found without the demand and has the room anyhow is faster.
TEST(RoomForStaging, TheBestThatHasIt) {
  int larger = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const Problem drawn = random_problem(random, {5, 2, 3, 1});
    const Problem problem = with_memory(drawn, 1 + static_cast<Amount>(random() % 2000));
    if (!problem.in_force(problem::Rule::memory)) continue;
    const auto free = solve_checked(problem);
    const auto room = solve_checked(problem, with_room());
    if (room.schedule) {
      EXPECT_LE(staged(problem, *room.schedule), problem.memories()[0].capacity) << seed;
    }
    if (!free.schedule) {
      EXPECT_FALSE(room.schedule) << seed;
      continue;
    }
    const bool fits = staged(problem, *free.schedule) <= problem.memories()[0].capacity;
    larger += fits ? 0 : 1;
    if (!fits) continue;
    ASSERT_TRUE(room.schedule) << seed;
    EXPECT_EQ(room.schedule->initiation_interval, free.schedule->initiation_interval) << seed;
  }
  EXPECT_GT(larger, 5);
}

// Two tiles of the backward pass do not fit the registers of a group: one is transferred, and its
// 65536 bytes leave the rings fewer copies.
TEST(RoomForStaging, OfTheBackwardPass) {
  const auto answer = solve_checked(solve_test::bundled("bwd_b1"), with_room());
  ASSERT_EQ(answer.verdict, schedule::Verdict::optimal);
  EXPECT_EQ(answer.schedule->initiation_interval, 4328);
}

}  // namespace
}  // namespace twill::solve
