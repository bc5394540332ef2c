#include "twill/problem/staging.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "solve/random_problem.h"
#include "solve/solve_text.h"
#include "twill/problem/problem.h"
#include "twill/solve/decide.h"

// Protects: with `room_for_staging`, schedules leave memory for their transfers, and the best of
// these schedules is found.
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

/// Makes a loop with a value of 4096 bytes that has to change groups, beside a tile of one byte.
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

/// Lists values in registers, each with its readers.
std::map<problem::OpId, std::set<problem::OpId>> held_values(const Problem& problem) {
  std::map<problem::OpId, std::set<problem::OpId>> out;
  for (const problem::Dependence& it : problem.dependences()) {
    const problem::Op& value = problem[it.from];
    const bool held = it.carries_value && value.registers > 0 && value.footprint.empty();
    if (held && it.from != it.to) out[it.from].insert(it.to);
  }
  return out;
}

/// Counts the bytes of the schedule's transfers.
Amount staged(const Problem& problem, const schedule::Schedule& schedule) {
  Amount sum = 0;
  for (const auto& [value, readers] : held_values(problem)) {
    const problem::GroupId group = schedule.ops[value.index()].group;
    const bool crosses = std::any_of(readers.begin(), readers.end(), [&](problem::OpId it) {
      return schedule.ops[it.index()].group != group;
    });
    if (crosses) sum += problem::staged_bytes(problem[value], problem[group].warps);
  }
  return sum;
}

/// Makes one group run the ops, and all ops that share a group with any of them.
void put_together(std::set<problem::OpId> ops, std::vector<std::vector<problem::OpId>>& sets) {
  std::vector<std::vector<problem::OpId>> apart;
  for (const std::vector<problem::OpId>& set : sets) {
    const bool shared =
        std::any_of(set.begin(), set.end(), [&](problem::OpId it) { return ops.contains(it); });
    if (shared) ops.insert(set.begin(), set.end());
    if (!shared) apart.push_back(set);
  }
  apart.emplace_back(ops.begin(), ops.end());
  sets = std::move(apart);
}

/// Finds the least II of a schedule with room, by trying which values stay in their groups; 0 if
/// there is none. Values wait in a memory that holds nothing else. Precondition: the rule `width`
/// is in force.
Cycles least_by_values_at_home(const Problem& problem) {
  const auto values = held_values(problem);
  Cycles least = 0;
  for (std::uint32_t home = 0; home < (1U << values.size()); ++home) {
    problem::Parts parts = problem.parts();
    Amount away = 0;
    std::uint32_t bit = 1;
    for (const auto& [value, readers] : values) {
      std::set<problem::OpId> together = readers;
      together.insert(value);
      const bool stays = (home & bit) != 0;
      bit <<= 1U;
      if (stays) put_together(std::move(together), parts.same_group);
      if (!stays) away += problem::staged_bytes(problem[value], problem[value].warps);
    }
    if (away > problem.memories()[0].capacity) continue;
    const auto posed = problem::pose(std::move(parts));
    if (!posed) continue;  // ops of different widths
    const Cycles interval = solve_test::optimal_interval(*posed);
    if (interval > 0 && (least == 0 || interval < least)) least = interval;
  }
  return least;
}

/// Makes the Problem with one memory of that capacity, which no value occupies.
Problem with_memory(const Problem& problem, Amount capacity) {
  problem::Parts parts = problem.parts();
  for (problem::Op& op : parts.ops) op.footprint.clear();
  parts.memories = {{"SMEM", capacity}};
  return *problem::pose(std::move(parts));
}

// Protects: the schedule with room is the best of all that have room, whether the demand costs
// cycles or leaves no schedule.
TEST(RoomForStaging, TheBestThatHasIt) {
  int slower = 0, none = 0, same = 0, cramped = 0;
  for (std::uint32_t seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    const Problem drawn = random_problem(random, {5, 2, 3, 1});
    const Problem problem = with_memory(drawn, 1 + static_cast<Amount>(random() % 2000));
    if (!problem.in_force(problem::Rule::memory)) continue;
    const Cycles free = solve_test::optimal_interval(problem);
    const auto room = solve_checked(problem, with_room());
    const Cycles found = room.schedule ? room.schedule->initiation_interval : 0;
    const bool refuted = refute_all(problem, with_room()).decided == Decided::infeasible;
    EXPECT_FALSE(refuted && room.schedule) << seed;
    cramped += refuted ? 1 : 0;
    if (room.schedule) {
      EXPECT_LE(staged(problem, *room.schedule), problem.memories()[0].capacity) << seed;
    }
    EXPECT_EQ(room.verdict,
              room.schedule ? schedule::Verdict::optimal : schedule::Verdict::infeasible)
        << seed;
    if (!problem.in_force(problem::Rule::width)) continue;  // bytes follow from the group
    EXPECT_EQ(found, least_by_values_at_home(problem)) << seed << solve_test::text_of(problem);
    (found == free ? same : found == 0 ? none : slower) += 1;
  }
  EXPECT_GT(slower, 3);
  EXPECT_GT(none, 3);
  EXPECT_GT(cramped, 3);
  EXPECT_GT(same, 20);
}

// Protects: a value takes as much as the warps of its group, which may be more than its op wants.
TEST(RoomForStaging, IsThatOfTheGroup) {
  const auto with_capacity = [](int capacity) {
    std::string text = crossing(capacity);
    for (const std::string name : {"group G0", "group G1"}) {
      text.replace(text.find(name), name.size(), name + " warps 8");
    }
    text.replace(text.find("minimum"), 0, "relax width\n");
    return problem_of(text);
  };
  const Problem enough = with_capacity(8193);
  const auto crossing = solve_checked(enough, with_room());
  ASSERT_TRUE(crossing.schedule);
  EXPECT_EQ(staged(enough, *crossing.schedule), 8192);
  const Problem short_of_it = with_capacity(8192);
  const auto at_home = solve_checked(short_of_it, with_room());
  ASSERT_TRUE(at_home.schedule);
  EXPECT_EQ(staged(short_of_it, *at_home.schedule), 0);
  EXPECT_GT(at_home.schedule->initiation_interval, crossing.schedule->initiation_interval);
}

// Protects the backward pass: two of its tiles do not fit the registers of a group. One is
// transferred, and its 65536 bytes leave the rings fewer copies.
TEST(RoomForStaging, OfTheBackwardPass) {
  const auto answer = solve_checked(solve_test::bundled("bwd_b1"), with_room());
  ASSERT_EQ(answer.verdict, schedule::Verdict::optimal);
  EXPECT_EQ(answer.schedule->initiation_interval, 4328);
}

}  // namespace
}  // namespace twill::solve
