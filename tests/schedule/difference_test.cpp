#include "twill/schedule/difference.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "twill/problem/problem.h"
#include "twill/schedule/loop_text.h"

namespace twill::schedule {
namespace {

using Kind = Difference::Kind;

/// Loop with two products (one has an alternative on another unit), a load that runs ahead, and
/// math.
const char* const kLoop = R"(loop two
unit TC
unit TMA
group VL warps 1 registers 8 loads
group WG0 registers 10
group WG1 registers 10
group WG2 registers 20
op load on TMA for 1 warps 1 latency 7 async streaming
op next on TMA for 1 warps 1 latency 7 async variable-latency
op a on TC for 2
op b
  way fast on TC for 2
  way slow latency 9
op c latency 1
load -> a
a -> c
)";

struct Loop {
  problem::Problem problem;
  Schedule schedule;
};

/// Places the five ops of the loop at these issue cycles and in these groups, at II 4.
Loop loop(const std::vector<std::pair<Cycles, std::size_t>>& ops, int alternative_of_b = 0) {
  auto text = parse_loop(kLoop, "two.loop");
  if (!text) throw std::runtime_error(to_string(text.error()));
  Schedule schedule;
  schedule.initiation_interval = 4;
  for (const auto& [issue, group] : ops) schedule.ops.push_back({issue, GroupId(group), 0});
  schedule.ops[3].alternative = alternative_of_b;
  return {std::move(text->problem), std::move(schedule)};
}

Loop model() { return loop({{0, 0}, {1, 0}, {8, 1}, {10, 2}, {12, 1}}); }

// Protects: rounds count iterations, on both sides of zero.
TEST(Difference, RoundsCountIterations) {
  const OpId a(2);
  const OpId b(3);
  const std::vector<std::pair<Cycles, std::int64_t>> expected = {
      {8, 0}, {10, 0}, {11, 0}, {12, 1}, {16, 2}, {7, -1}, {4, -1}, {3, -2}};
  for (const auto& [issue, round] : expected) {
    const Loop it = loop({{0, 0}, {1, 0}, {8, 1}, {issue, 2}, {12, 1}});
    EXPECT_EQ(round_after(it.schedule, a, b), round) << issue;
  }
}

// Protects: a structure does not depend on slots, on stages of ops without a unit, or on how far a
// load runs ahead. Names of groups of one kind do not matter either.
TEST(Difference, NamesSlotsAndStagesMakeNone) {
  const Loop base = model();
  const Loop other = loop({{20, 0}, {1, 0}, {4, 2}, {7, 1}, {40, 2}});
  const Schedule named = aligned(other.problem, other.schedule, base.schedule);
  EXPECT_EQ(named.ops[2].group, GroupId(1));
  EXPECT_TRUE(differences(other.problem, named, base.schedule).empty());
}

// Protects: alternatives, groups and rounds are listed in this order, each with its old and new
// value. Groups of different kinds keep their names.
TEST(Difference, SaysWhatIsAndWhatWas) {
  const Loop base = model();
  const Loop order = loop({{0, 0}, {1, 0}, {8, 1}, {14, 3}, {12, 1}});
  const std::vector<Difference> expected = {{Kind::group, OpId(3), OpId(3), 3, 2},
                                            {Kind::order, OpId(2), OpId(3), -2, -1}};
  const Schedule named = aligned(order.problem, order.schedule, base.schedule);
  EXPECT_EQ(differences(order.problem, named, base.schedule), expected);
  const Loop alternative = loop({{0, 0}, {1, 0}, {8, 1}, {14, 2}, {12, 1}}, 1);
  const std::vector<Difference> in_alternatives = {{Kind::alternative, OpId(3), OpId(3), 1, 0}};
  EXPECT_EQ(differences(alternative.problem, alternative.schedule, base.schedule), in_alternatives);
}

// Protects: groups are renamed so that as few ops as possible have moved.
TEST(Difference, MostOpsKeepTheirGroup) {
  const Loop base = loop({{0, 0}, {1, 0}, {8, 1}, {10, 1}, {12, 1}});
  const Loop other = loop({{0, 0}, {1, 0}, {8, 1}, {10, 2}, {12, 2}});
  const Schedule named = aligned(other.problem, other.schedule, base.schedule);
  const std::vector<Difference> expected = {{Kind::group, OpId(2), OpId(2), 2, 1}};
  EXPECT_EQ(differences(other.problem, named, base.schedule), expected);
}

// Protects: where the rule `unit` is relaxed, ops on a unit have no rounds.
TEST(Difference, NoRoundsWithoutTheRule) {
  const Loop base = model();
  problem::Parts parts = base.problem.parts();
  parts.relaxed = {problem::Rule::unit};
  const auto relaxed = problem::pose(std::move(parts));
  const Loop other = loop({{0, 0}, {1, 0}, {8, 1}, {22, 2}, {12, 1}});
  EXPECT_FALSE(differences(base.problem, other.schedule, base.schedule).empty());
  EXPECT_TRUE(differences(*relaxed, other.schedule, base.schedule).empty());
}

}  // namespace
}  // namespace twill::schedule
