// Protects the numbers that reports and plans are made of: buffers, registers, rings, total time.
// (That the peaks are right in general: tests/verify/agreement_test.cpp.)

#include "twill/schedule/analysis.h"

#include <limits>

#include "verify/drawn.h"

namespace twill::schedule {
namespace {

using verify::Drawn;
using verify::issued;

/// Makes `a` (3 bytes, 5 registers) with two readers: one in the same iteration, and one two
/// iterations later that reads for 4 cycles.
Drawn read_twice() {
  Drawn drawn;
  drawn.group("G");
  const MemoryId memory = drawn.memory("SMEM", 1000);
  const OpId a = drawn.op("a");
  const OpId b = drawn.op("b");
  const OpId c = drawn.op("c");
  drawn[a].footprint.push_back({memory, 3});
  drawn[a].registers = 5;
  drawn.edge(a, b, 0);
  drawn.edge(a, c, 0, 2).read_hold = 4;
  return drawn;
}

TEST(Lives, LastUntilTheLastReadEnds) {
  const auto problem = read_twice().problem();
  const auto lives = lives_of(problem, issued(10, {{2}, {8}, {3}}));
  EXPECT_EQ(lives[0], (Life{2, 27, 3}));
  EXPECT_EQ(lives[1], (Life{8, 8, 0}));  // b has no reader
}

TEST(Buffers, AreAsDeepAsCopiesLive) {
  const auto problem = read_twice().problem();
  const auto depth = [&](Cycles issue_of_c) {
    const auto buffers = buffers_of(problem, issued(10, {{2}, {8}, {issue_of_c}}));
    EXPECT_EQ(buffers.size(), 1U);
    return buffers.front().depth;
  };
  EXPECT_EQ(depth(8), 3);  // dead at 32, when the copy of three iterations later begins
  EXPECT_EQ(depth(9), 4);
}

TEST(Peaks, CountEveryCopyInItsGroupAndMemory) {
  Drawn drawn = read_twice();
  const GroupId other = drawn.group("H");
  const auto problem = drawn.problem();
  const auto schedule = issued(10, {{2}, {8, other}, {9}});
  EXPECT_EQ(peak_registers(problem, schedule), (std::vector<Amount>{20, 0}));
  EXPECT_EQ(peak_memory(problem, schedule), (std::vector<Amount>{12}));
  EXPECT_EQ(used_groups(problem, schedule), (std::vector{GroupId(0), other}));
}

TEST(Loads, AreThoseOfTheAlternativesTaken) {
  Drawn drawn;
  drawn.group("G");
  const UnitId unit = drawn.unit("TC");
  drawn.unit("idle");
  const PipeId pipe = drawn.pipe("MUFU");
  const OpId a = drawn.on_unit("a", unit, 4);
  drawn.alternative(a).name = "tensor";
  drawn[a].alternatives.push_back({"mufu", std::nullopt, 0, 0, 0, {{pipe, 7}}});
  drawn.on_unit("b", unit, 5);
  const auto problem = drawn.problem();
  EXPECT_EQ(unit_loads(problem, issued(10, {{0, {}, 0}, {4}})), (std::vector<Cycles>{9, 0}));
  EXPECT_EQ(pipe_loads(problem, issued(10, {{0, {}, 0}, {4}})), (std::vector<Cycles>{0}));
  EXPECT_EQ(unit_loads(problem, issued(10, {{0, {}, 1}, {4}})), (std::vector<Cycles>{5, 0}));
  EXPECT_EQ(pipe_loads(problem, issued(10, {{0, {}, 1}, {4}})), (std::vector<Cycles>{7}));
}

/// Makes two streaming loads of 4 bytes and latency 25, read from 5 to 10 cycles after their issue.
Drawn streaming(Amount capacity) {
  Drawn drawn;
  drawn.group("G");
  const GroupId loads = drawn.group("L", 0, 4, true);
  const MemoryId memory = drawn.memory("SMEM", capacity);
  for (const char* name : {"k", "v"}) {
    const OpId load = drawn.op(name, 25);
    drawn[load].variable_latency = drawn[load].streaming = true;
    drawn[load].footprint.push_back({memory, 4});
  }
  const OpId use = drawn.op("use");
  drawn.edge(OpId(0), use, 0).read_hold = 5;
  drawn.edge(OpId(1), use, 0).read_hold = 5;
  (void)loads;
  return drawn;
}

std::vector<Ring> rings_in(Amount capacity) {
  const auto problem = streaming(capacity).problem();
  return rings_of(problem, issued(10, {{0, GroupId(1)}, {0, GroupId(1)}, {5}}));
}

// A ring of depth d lets its load lead the first read by d * 10 less the 5 cycles of reading.
TEST(Rings, AreGivenTheDepthThatHidesTheLatency) {
  const auto rings = rings_in(1000);
  ASSERT_EQ(rings.size(), 2U);
  EXPECT_EQ(rings[0], (Ring{OpId(0), 3, 25, 25}));
  EXPECT_EQ(rings[1], (Ring{OpId(1), 3, 25, 25}));
}

TEST(Rings, ShareWhatTheMemoryLeavesEvenly) {
  EXPECT_EQ(rings_in(8)[0], (Ring{OpId(0), 1, 5, 25}));
  EXPECT_EQ(rings_in(11)[0], (Ring{OpId(0), 1, 5, 25}));
  EXPECT_EQ(rings_in(12)[0], (Ring{OpId(0), 2, 15, 25}));
  EXPECT_EQ(rings_in(12)[1], (Ring{OpId(1), 1, 5, 25}));
  EXPECT_EQ(rings_in(16)[1], (Ring{OpId(1), 2, 15, 25}));
}

TEST(Rings, OfNothingAtATinyIntervalStayFinite) {
  Drawn drawn = streaming(8);
  for (std::size_t i = 0; i < 2; ++i) {
    drawn[OpId(i)].footprint.clear();
    drawn.alternative(OpId(i)).latency = 1'000'000'000;
  }
  const auto problem = drawn.problem();
  const auto rings = rings_of(problem, issued(1, {{0, GroupId(1)}, {0, GroupId(1)}, {5}}));
  EXPECT_EQ(rings[0].depth, kDeepestRing);
  EXPECT_EQ(rings[1].depth, kDeepestRing);
}

TEST(StageCount, CoversTheOccupancyOfTheLastOp) {
  Drawn drawn;
  drawn.group("G");
  drawn.on_unit("a", drawn.unit("TC"), 4);
  const auto problem = drawn.problem();
  const auto schedule = issued(10, {{25}});  // length 29: three stages
  EXPECT_EQ(stage_count(problem, schedule), 3);
}

}  // namespace
}  // namespace twill::schedule
