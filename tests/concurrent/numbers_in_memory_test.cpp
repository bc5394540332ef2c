// Numbers that one role tells another through shared memory decide steps as they are, also where
// the counter behind them is followed by its remainders.
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "concurrent/modules.h"
#include "twill/concurrent/every_trip.h"
#include "twill/frontend/ttgir/read.h"
#include "twill/problem/problem.h"

namespace twill::tests {
namespace {

/// A role stores the number of its iteration into a ring of two, the other loads the number.
const std::string kTold = R"(
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @told(%n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %full = ttg.local_alloc : () -> !RING
    %full0 = ttg.memdesc_index %full[%c0] : !RING -> !BAR
    ttng.init_barrier %full0, 1 : !BAR
    %full1 = ttg.memdesc_index %full[%c1] : !RING -> !BAR
    ttng.init_barrier %full1, 1 : !BAR
    %empty = ttg.local_alloc : () -> !RING
    %empty0 = ttg.memdesc_index %empty[%c0] : !RING -> !BAR
    ttng.init_barrier %empty0, 1 : !BAR
    %empty1 = ttg.memdesc_index %empty[%c1] : !RING -> !BAR
    ttng.init_barrier %empty1, 1 : !BAR
    %told = ttg.local_alloc : () -> !TOLD
    ttg.warp_specialize(%full, %empty, %told, %n) attributes {requestedRegisters = array<i32: 24>}
    default {
      %ready = arith.constant true
      %two = arith.constant 2 : i32
      scf.for %i = %c0 to %n step %c1  : i32 {
        %slot = arith.remsi %i, %two : i32
        %lap = arith.divsi %i, %two : i32
        %phase = arith.andi %lap, %c1 : i32
        %f = ttg.memdesc_index %full[%slot] : !RING -> !BAR
        %e = ttg.memdesc_index %empty[%slot] : !RING -> !BAR
        %t = ttg.memdesc_index %told[%slot] : !TOLD -> !ONE
        ttng.wait_barrier %f, %phase, %ready : !BAR
        %tile = ttg.local_load %t : !ONE -> tensor<1xi32, #b>
        %number = "tt.reduce"(%tile) <{axis = 0 : i32}> ({
        ^bb0(%x: i32, %y: i32):
          %m = arith.maxsi %x, %y : i32
          tt.reduce.return %m : i32
        }) : (tensor<1xi32, #b>) -> i32
        ttng.arrive_barrier %e, 1, %ready : !BAR
      }
      ttg.warp_yield
    }
    partition0(%pf: !RING, %pe: !RING, %pt: !TOLD, %pn: i32) num_warps(4) {
      %p0 = arith.constant 0 : i32
      %p1 = arith.constant 1 : i32
      %p2 = arith.constant 2 : i32
      %free = arith.constant true
      scf.for %i = %p0 to %pn step %p1  : i32 {
        %slot = arith.remsi %i, %p2 : i32
        %lap = arith.divsi %i, %p2 : i32
        %odd = arith.andi %lap, %p1 : i32
        %parity = arith.xori %odd, %p1 : i32
        %f = ttg.memdesc_index %pf[%slot] : !RING -> !BAR
        %e = ttg.memdesc_index %pe[%slot] : !RING -> !BAR
        %t = ttg.memdesc_index %pt[%slot] : !TOLD -> !ONE
        ttng.wait_barrier %e, %parity, %free : !BAR
        %tile = tt.splat %i : i32 -> tensor<1xi32, #b>
        ttg.local_store %tile, %t : tensor<1xi32, #b> -> !ONE
        ttng.arrive_barrier %f, 1, %free : !BAR
      }
      ttg.warp_return
    } : (!RING, !RING, !TOLD, i32) -> ()
    tt.return
  }
}
)";

/// The module; behind its arrival, the reader acts as `then` says if `%number` is as `when` says.
std::string told(const std::string& when = "", const std::string& then = "") {
  std::string text = kTold;
  if (!when.empty()) {
    const std::string arrival = "        ttng.arrive_barrier %e, 1, %ready : !BAR\n";
    text = replaced(text, arrival,
                    arrival + "        %seven = arith.constant 7 : i32\n" +
                        "        %is = arith.cmpi " + when + ", %number, %seven : i32\n" +
                        "        scf.if %is {\n          " + then + "\n        }\n");
  }
  text = replaced(text, "!RING", "!ttg.memdesc<2x1xi64, #s, #smem, mutable>", true);
  text = replaced(text, "!BAR", "!ttg.memdesc<1xi64, #s, #smem, mutable>", true);
  text = replaced(text, "!TOLD", "!ttg.memdesc<2x1xi32, #s, #smem, mutable>", true);
  return replaced(text, "!ONE", "!ttg.memdesc<1xi32, #s, #smem, mutable>", true);
}

/// The module; the reader keeps the first number, and remembers whether an iteration had the same.
/// Arrives twice in an iteration where `when` says so, of `%is`, the present answer, and `%was`.
std::string kept(const std::string& when) {
  std::string text = told();
  text =
      replaced(text, "      scf.for %i = %c0 to %n step %c1  : i32 {\n        %slot",
               "      %no = arith.constant false\n"
               "      %kept:2 = scf.for %i = %c0 to %n step %c1 iter_args(%number0 = %c0, %was = "
               "%no) -> (i32, i1)  : i32 {\n        %slot");
  const std::string arrival =
      "        ttng.arrive_barrier %e, 1, %ready : !ttg.memdesc<1xi64, #s, #smem, mutable>\n";
  text = replaced(text, arrival,
                  arrival +
                      "        %first = arith.cmpi eq, %i, %c0 : i32\n"
                      "        %kept1 = arith.select %first, %number, %number0 : i32\n"
                      "        %is = arith.cmpi " +
                      when +
                      ", %i, %kept1 : i32\n"
                      "        %isnt = arith.xori %is, %ready : i1\n"
                      "        %twice = arith.andi %isnt, %was : i1\n"
                      "        ttng.arrive_barrier %e, 1, %twice : !ttg.memdesc<1xi64, #s, #smem, "
                      "mutable>\n"
                      "        %were = arith.ori %is, %was : i1\n"
                      "        scf.yield %kept1, %were : i32, i1\n");
  // The number is an argument, of which nothing is known.
  return replaced(text, "tt.splat %i : i32", "tt.splat %pn : i32");
}

concurrent::EveryTrip followed(const std::string& text) {
  const auto program = frontend::read_ttgir(text, "told.ttgir");
  if (!program) throw std::runtime_error(to_string(program.error()));
  auto made = concurrent::follow_every_trip(*program, ir::functions(*program)[0]);
  if (!made) throw std::runtime_error(to_string(made.error()));
  return *std::move(made);
}

TEST(NumbersInMemory, ThatDecideNothingAreProven) {
  EXPECT_TRUE(followed(told()).findings.empty());
}

/// An arrival too many in a late iteration, which only the stored number tells. The rule breaks
/// when the writer is a lap ahead.
TEST(NumbersInMemory, DecideInTheIterationThatTheyName) {
  for (const char* when : {"eq", "sgt", "sge"}) {
    SCOPED_TRACE(when);
    const auto made = followed(told(when, "ttng.arrive_barrier %e, 1, %ready : !BAR"));
    ASSERT_FALSE(made.findings.empty());
    ASSERT_EQ(made.trips.size(), 1U);
    EXPECT_GE(made.trips[0].trips.back(), 8);
    EXPECT_LE(made.trips[0].trips.back(), 12);
  }
}

/// A condition on the iteration and on a number that stays is asked in each iteration.
TEST(NumbersInMemory, ThatStayAreComparedInEachIteration) {
  for (const char* when : {"eq", "slt", "sle"}) {
    SCOPED_TRACE(when);
    const auto made = followed(kept(when));
    ASSERT_FALSE(made.findings.empty());
  }
}

/// A reduction that also computes of another number does not keep the number of its elements.
TEST(NumbersInMemory, ReductionsOfOtherNumbersAreNotKept) {
  std::string text = replaced(
      told("eq", "ttng.arrive_barrier %e, 1, %ready : !ttg.memdesc<1xi64, #s, #smem, mutable>"),
      "%m = arith.maxsi %x, %y", "%m = arith.maxsi %x, %other");
  text = replaced(text, "      %ready = arith",
                  "      %other = arith.constant 7 : i32\n      %ready = arith");
  text = replaced(text, "tt.splat %i : i32", "tt.splat %p1 : i32");
  text = replaced(text, "1xi32", "2xi32", true);
  EXPECT_FALSE(followed(text).findings.empty());
}

/// A number with 16 bits is below 0 after 32,768 iterations.
TEST(NumbersInMemory, NarrowNumbersOverflow) {
  std::string text;
  const std::string arrival =
      "        ttng.arrive_barrier %e, 1, %ready : !ttg.memdesc<1xi64, #s, #smem, mutable>\n";
  for (const char* narrow :
       {"%narrow = arith.trunci %i : i32 to i16",
        "%index = arith.index_cast %i : i32 to index\n        %narrow = arith.index_cast %index : "
        "index to i16"}) {
    SCOPED_TRACE(narrow);
    text =
        replaced(told(), arrival,
                 arrival + "        " + narrow +
                     "\n"
                     "        %none = arith.constant 0 : i16\n"
                     "        %below = arith.cmpi slt, %narrow, %none : i16\n"
                     "        ttng.arrive_barrier %e, 1, %below : !ttg.memdesc<1xi64, #s, #smem, "
                     "mutable>\n");
    const auto program = frontend::read_ttgir(text, "told.ttgir");
    ASSERT_TRUE(program) << to_string(program.error());
    const auto made = concurrent::follow_every_trip(*program, ir::functions(*program)[0]);
    EXPECT_TRUE(!made || !made->findings.empty());
  }
}

}  // namespace
}  // namespace twill::tests
