#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>

#include "machine/shipped_machine.h"

namespace twill::machine {
namespace {

Work tile(std::string kind, std::int64_t rows = 64, std::int64_t columns = 128) {
  Work work;
  work.kind = std::move(kind);
  work.elements = rows * columns;
  work.rows = rows;
  work.bytes = rows * columns * 4;
  return work;
}

Work product(std::int64_t m, std::int64_t n, std::int64_t k, std::string form, int bits = 16) {
  Work work;
  work.kind = "mma";
  work.m = m;
  work.n = n;
  work.k = k;
  work.form = std::move(form);
  work.bits = bits;
  return work;
}

Cost cost_of(const Machine& machine, const std::vector<Work>& work, Rate rate, int groups = 2) {
  const auto cost = price(machine, work, rate, groups);
  if (!cost) {
    ADD_FAILURE() << to_string(cost.error());
    return {};
  }
  return *cost;
}

Cycles demand_on(const Machine& machine, const Cost& cost, std::string_view pipe) {
  for (const PipeDemand& use : cost.pipes) {
    if (machine.pipes()[use.pipe].name == pipe) return use.demand;
  }
  return 0;
}

// A product is its FLOP at 4096 a cycle, and a waiting warpgroup sees it 46 (RS) or 62 (SS) later.
TEST(Price, HopperProductsCostTheirFlop) {
  const Machine h200 = shipped("h200");
  const Cost rs = cost_of(h200, {product(64, 128, 128, "RS")}, Rate::fastest);
  EXPECT_EQ(rs.unit, h200.unit_named("TC"));
  EXPECT_EQ(rs.occupancy, 512);
  EXPECT_EQ(rs.latency, 558);
  EXPECT_TRUE(rs.asynchronous);
  const Cost ss = cost_of(h200, {product(64, 256, 128, "SS")}, Rate::fastest);
  EXPECT_EQ(ss.occupancy, 1024);
  EXPECT_EQ(ss.latency, 1086);  // measured: 1092
  EXPECT_EQ(cost_of(h200, {product(64, 128, 128, "SS", 8)}, Rate::fastest).occupancy, 256);
}

// Share of shared memory that wgmma's operands leave, as measured: 1/4 beside SS n128, 1/2 beside
// RS n128, 3/8 beside SS n256.
TEST(Price, WgmmaOperandsTakeTheirShareOfTheSharedMemoryPort) {
  const Machine h200 = shipped("h200");
  const auto share = [&](const Work& work) {
    const Cost cost = cost_of(h200, {work}, Rate::fastest);
    return static_cast<double>(demand_on(h200, cost, "SMEM")) / static_cast<double>(cost.occupancy);
  };
  EXPECT_DOUBLE_EQ(share(product(64, 128, 128, "SS")), 0.75);
  EXPECT_DOUBLE_EQ(share(product(64, 128, 128, "RS")), 0.5);
  EXPECT_DOUBLE_EQ(share(product(64, 256, 128, "SS")), 0.625);
}

struct Piece {
  std::vector<Work> work;
  Cycles alone;   ///< measured, the best of 1 to 3 warpgroups, per tile
  Cycles beside;  ///< measured, one warpgroup beside a streaming tensor core
};

// Brackets contain the measured time of every softmax piece: the model promises neither more nor
// less than the hardware gives. (exp2 is 5 % short: a lone warpgroup overlaps scaling and
// exponentials less than any rule with two numbers can state.)
TEST(Price, BracketsTheMeasuredPiecesOfASoftmax) {
  const Machine h200 = shipped("h200");
  const std::vector<Piece> pieces = {
      {{tile("reduce_max")}, 141, 300}, {{tile("fma"), tile("exp2")}, 583, 853},
      {{tile("add")}, 68, 117},         {{tile("convert")}, 67, 135},
      {{tile("fma")}, 68, 117},
  };
  for (const Piece& piece : pieces) {
    const std::string name = piece.work.back().kind;
    const Cost fastest = cost_of(h200, piece.work, Rate::fastest);
    const Cost slowest = cost_of(h200, piece.work, Rate::slowest, 1);
    Cycles busiest = 0;  // cycles of the SM for a tile if enough groups do it
    for (const PipeDemand& use : fastest.pipes) busiest = std::max(busiest, use.demand);
    EXPECT_LE(busiest, piece.alone) << name;
    EXPECT_GE(busiest * 100, piece.alone * 86) << name;
    EXPECT_GE(slowest.latency * 100, piece.beside * 95) << name;
    EXPECT_LE(slowest.latency * 100, piece.beside * 130) << name;
  }
}

// A row maximum alone: measured 200 in one warpgroup, its shuffles waited for.
TEST(Price, ReductionsWaitForTheirShuffles) {
  const Machine h200 = shipped("h200");
  const Cost cost = cost_of(h200, {tile("reduce_max")}, Rate::fastest);
  EXPECT_GE(cost.latency, 170);
  EXPECT_LE(cost.latency, 200);
  EXPECT_EQ(cost.issue, 68);  // the slots of 64 maxima and 4 shuffles a warp
}

/// A scan of a tile (rows of 1: a vector), and the cycles that one more scan took the four warps of
/// a CTA. Measured with tl.cumsum of Triton 3.6 on an H200 (2026-11-23), without the rest of the
/// loop. Down the rows of 128 x 128 it spills (11,000 cycles).
struct MeasuredScan {
  const char* kind;
  std::int64_t rows;
  std::int64_t columns;
  Cycles cycles;
};
constexpr MeasuredScan kMeasuredScans[] = {
    {"scan_row", 16, 16, 120},      {"scan_row", 32, 64, 187},     {"scan_row", 64, 32, 155},
    {"scan_row", 64, 64, 246},      {"scan_row", 64, 128, 687},    {"scan_row", 128, 64, 722},
    {"scan_row", 128, 128, 1017},   {"scan_column", 16, 16, 209},  {"scan_column", 32, 64, 1315},
    {"scan_column", 64, 32, 1409},  {"scan_column", 64, 64, 1406}, {"scan_column", 64, 128, 1755},
    {"scan_column", 128, 64, 2517}, {"scan_vector", 1, 64, 223},   {"scan_vector", 1, 128, 241},
    {"scan_vector", 1, 256, 275},   {"scan_vector", 1, 512, 277},
};

// Both ends of the bracket hold for every scan that was measured.
TEST(Price, BracketsTheMeasuredScans) {
  const Machine h200 = shipped("h200");
  for (const MeasuredScan& scan : kMeasuredScans) {
    const Work work = tile(scan.kind, scan.rows, scan.columns);
    EXPECT_LE(cost_of(h200, {work}, Rate::fastest).latency, scan.cycles)
        << scan.kind << " of " << scan.rows << " x " << scan.columns;
    EXPECT_GE(cost_of(h200, {work}, Rate::slowest).latency, scan.cycles)
        << scan.kind << " of " << scan.rows << " x " << scan.columns;
  }
}

// On Blackwell a thread holds a row, and reduces it alone; two warpgroups that split the columns
// meet in shared memory. A warpgroup with whole rows does not.
TEST(Price, ReductionsOfSplitRowsMeet) {
  const Machine b200 = shipped("b200");
  Work whole = tile("reduce_max", 128);
  Work split = whole;
  split.parts_of_row = 2;
  const Cost alone = cost_of(b200, {whole}, Rate::fastest);
  const Cost meeting = cost_of(b200, {split}, Rate::fastest);
  EXPECT_EQ(demand_on(b200, alone, "SMEM"), 0);
  EXPECT_EQ(demand_on(b200, meeting, "SMEM"), 2 * 128 * 8 / 128);
  EXPECT_EQ(meeting.latency - alone.latency, 76);
}

// Work with two implementations on a machine is a choice, made once for all work of that kind. The
// first choice is the implementation that was asked for. A machine without alternatives has no
// choice.
TEST(Price, AlternativesAreChoices) {
  const Machine b200 = shipped("b200");
  const std::vector<Work> works = {tile("fma", 128), tile("exp2", 128), tile("convert", 128)};
  const std::vector<Choice> choices = choices_of(b200, works);
  ASSERT_EQ(choices.size(), 2U);
  EXPECT_EQ(choices[0].name, "exp2");
  EXPECT_EQ(choices[0].works[1].kind, "exp2");
  EXPECT_EQ(choices[1].name, "exp2_quarter_fma");
  EXPECT_EQ(choices[1].works[1].kind, "exp2_quarter_fma");
  const Cost whole = cost_of(b200, choices[0].works, Rate::fastest);
  const Cost part = cost_of(b200, choices[1].works, Rate::fastest);
  EXPECT_EQ(demand_on(b200, whole, "MUFU"), 1024);
  EXPECT_EQ(demand_on(b200, part, "MUFU"), 768);
  EXPECT_EQ(demand_on(b200, part, "FMA") - demand_on(b200, whole, "FMA"), 192);

  const std::vector<Choice> none = choices_of(shipped("h200"), works);
  ASSERT_EQ(none.size(), 1U);
  EXPECT_EQ(none[0].name, "");
}

// A register tile through shared memory: 547 cycles for fp32, 276 for fp16, measured.
TEST(Price, TransfersMatchTheMeasurement) {
  const Machine h200 = shipped("h200");
  const auto cycles = [&](std::int64_t bytes) {
    return static_cast<double>(*transfer(h200, bytes, Rate::fastest, 2));
  };
  EXPECT_NEAR(cycles(64 * 128 * 4), 547, 0.05 * 547);
  EXPECT_NEAR(cycles(64 * 128 * 2), 276, 0.05 * 276);
  EXPECT_EQ(cycles(0), 31);
}

// exp2 of 128x128 costs as much as a 128x128x128 product on Hopper, and twice that on Blackwell:
// the arithmetic behind FlashAttention-3 and FlashAttention-4.
TEST(Price, ExponentialsAgainstProducts) {
  for (const auto& [name, ratio] : {std::pair{"h200", 1}, std::pair{"b200", 2}}) {
    const Machine machine = shipped(name);
    const Cost exp2 = cost_of(machine, {tile("exp2", 128, 128)}, Rate::fastest);
    const Cost mma = cost_of(machine, {product(128, 128, 128, "SS")}, Rate::fastest);
    EXPECT_EQ(demand_on(machine, exp2, "MUFU"), 1024) << name;
    EXPECT_EQ(mma.occupancy * ratio, 1024) << name;
  }
}

// tcgen05 runs tiles of 64 rows at half rate.
TEST(Price, BlackwellProductsOf64RowsRunAtHalfRate) {
  const Machine b200 = shipped("b200");
  EXPECT_EQ(cost_of(b200, {product(128, 128, 128, "SS")}, Rate::fastest).occupancy, 512);
  EXPECT_EQ(cost_of(b200, {product(64, 128, 128, "SS")}, Rate::fastest).occupancy, 512);
}

// For each kind, shape, type and number of groups: slowest is never faster than fastest, and more
// groups are never faster. A larger tile is never cheaper.
TEST(Price, IsMonotone) {
  for (const char* name : {"h100", "h200", "b200"}) {
    const Machine machine = shipped(name);
    for (const CostRule& rule : machine->operations) {
      Cycles previous = 0;
      for (const std::int64_t columns : {16, 64, 128, 256}) {
        for (const int bits : {8, 16, 32}) {
          Work work = tile(rule.kind, 64, columns);
          work.bits = bits;
          work.m = 64;
          work.n = columns;
          work.k = 64;
          work.form = "SS";
          const Cost fastest = cost_of(machine, {work}, Rate::fastest);
          const Cost two = cost_of(machine, {work}, Rate::slowest, 2);
          const Cost three = cost_of(machine, {work}, Rate::slowest, 3);
          EXPECT_LE(fastest.latency, two.latency) << name << " " << rule.kind;
          EXPECT_LE(fastest.issue, two.issue) << name << " " << rule.kind;
          EXPECT_LE(fastest.occupancy, two.occupancy) << name << " " << rule.kind;
          EXPECT_LE(two.latency, three.latency) << name << " " << rule.kind;
          if (bits == 32) {
            EXPECT_LE(previous, fastest.latency) << name << " " << rule.kind;
            previous = fastest.latency;
          }
        }
      }
    }
  }
}

// An unknown kind gets the stated default, and says so.
TEST(Price, UnknownKindsAreFlagged) {
  const Machine h200 = shipped("h200");
  const Cost cost = cost_of(h200, {tile("histogram")}, Rate::fastest);
  EXPECT_TRUE(cost.defaulted);
  EXPECT_GT(cost.latency, 0);
  EXPECT_FALSE(cost_of(h200, {tile("exp2")}, Rate::fastest).defaulted);
}

// No tensor core here multiplies 64-bit tiles: an error, not a guess.
TEST(Price, RefusesWhatTheMachineCannotDo) {
  const auto cost = price(shipped("h200"), product(64, 128, 128, "SS", 64), Rate::fastest, 1);
  ASSERT_FALSE(cost.has_value());
  EXPECT_EQ(cost.error().message, "h200 has no rate for 'mma' on elements of 64 bits");
}

}  // namespace
}  // namespace twill::machine
