// Integers computed apart from each other: each group of a loop's carried integers repeats itself
// after its own period, however long the common period is.
#include "twill/run/positions.h"

#include <string>

#include <gtest/gtest.h>

#include "concurrent/modules.h"
#include "twill/frontend/ttgir/read.h"
#include "twill/ir/loop.h"
#include "twill/problem/problem.h"

namespace twill::tests {
namespace {

using run::Rounds;

/// A role that goes through rings of three and five mbarriers. `of_b` computes the next slot of the
/// second ring, `%next`.
std::string rings(const std::string& of_b) {
  const std::string one = "!ttg.memdesc<1xi64, #s, #smem, mutable>";
  const std::string three = "!ttg.memdesc<3x1xi64, #s, #smem, mutable>";
  const std::string five = "!ttg.memdesc<5x1xi64, #s, #smem, mutable>";
  return R"(
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @rings(%n: i32) {
    %a = ttg.local_alloc : () -> )" +
         three + "\n    %b = ttg.local_alloc : () -> " + five + R"(
    ttg.warp_specialize(%a, %b, %n) attributes {requestedRegisters = array<i32: 24>}
    default {
      ttg.warp_yield
    }
    partition0(%pa: )" +
         three + ", %pb: " + five + R"(, %pn: i32) num_warps(4) {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c3 = arith.constant 3 : i32
      %c5 = arith.constant 5 : i32
      %true = arith.constant true
      %out:2 = scf.for %i = %c0 to %pn step %c1 iter_args(%u = %c0, %v = %c0) -> (i32, i32)  : i32 {
        %x = ttg.memdesc_index %pa[%u] : )" +
         three + " -> " + one + "\n        %y = ttg.memdesc_index %pb[%v] : " + five + " -> " +
         one + "\n        ttng.arrive_barrier %x, 1, %true : " + one +
         "\n        ttng.arrive_barrier %y, 1, %true : " + one + R"(
        %u1 = arith.addi %u, %c1 : i32
        %ends = arith.cmpi eq, %u1, %c3 : i32
        %u2 = arith.select %ends, %c0, %u1 : i32
)" + of_b +
         R"(        scf.yield %u2, %next : i32, i32
      }
      ttg.warp_return
    } : ()" +
         three + ", " + five + R"(, i32) -> ()
    tt.return
  }
}
)";
}

/// Slots of both rings in 30 iterations.
Rounds slots() {
  Rounds rounds;
  for (std::int64_t i = 1; i <= 30; ++i) rounds.push_back({i % 3, i % 5});
  return rounds;
}

/// A module with its groups.
struct Grouped {
  explicit Grouped(const std::string& text)
      : program(*frontend::read_ttgir(text, "rings.ttgir")),
        function(ir::functions(program)[0]),
        guide(*concurrent::make_guide(program, function, 0)),
        positions(program, function, guide) {}

  ir::Program program;
  ir::OpId function;
  concurrent::Guide guide;
  run::Positions positions;
};

bool repeat(const std::string& of_b, const Rounds& rounds, std::size_t longest) {
  const Grouped made(rings(of_b));
  const ir::Loop loop = ir::loops(made.program, made.function)[0];
  const auto end = ir::terminator(made.program, loop.body);
  return made.positions.repeat(made.program.op(*end).operands, rounds, longest);
}

/// Whether the module's slots and predicates are decided apart, with `to` in place of `from`.
bool decide_apart(const std::string& from, const std::string& to) {
  const std::string apart =
      "        %v1 = arith.addi %v, %c1 : i32\n        %over = arith.cmpi eq, %v1, %c5 : i32\n"
      "        %next = arith.select %over, %c0, %v1 : i32\n";
  return Grouped(replaced(rings(apart), from, to)).positions.decide_apart(2);
}

const std::string kApart =
    "        %v1 = arith.addi %v, %c1 : i32\n        %over = arith.cmpi eq, %v1, %c5 : i32\n"
    "        %next = arith.select %over, %c0, %v1 : i32\n";

TEST(Positions, RingsApartRepeatAfterTheirOwnPeriod) {
  EXPECT_TRUE(repeat(kApart, slots(), 5));
  EXPECT_FALSE(repeat(kApart, slots(), 4)) << "the second ring has five slots";
}

/// One slot that is wrong late is no repetition.
TEST(Positions, ALateChangeIsSeen) {
  Rounds rounds = slots();
  rounds[27][1] = 0;
  EXPECT_FALSE(repeat(kApart, rounds, 10));
}

/// The common period of both rings is 15.
TEST(Positions, ARingComputedFromAnotherIsOfTheSameGroup) {
  const std::string by_a =
      "        %v1 = arith.addi %v, %u2 : i32\n        %next = arith.remsi %v1, %c5 : i32\n";
  EXPECT_FALSE(repeat(by_a, slots(), 10));
  EXPECT_TRUE(repeat(by_a, slots(), 15));
}

/// A slot computed from the iteration's number may change at any iteration.
TEST(Positions, NumbersOfIterationsRepeatNothing) {
  EXPECT_FALSE(repeat("        %next = arith.remsi %i, %c5 : i32\n", slots(), 10));
}

/// A branch on one ring's slot decides how far the other goes.
TEST(Positions, ABranchOnAGroupDecidesAboutAnother) {
  const std::string branch =
      "        %next = scf.if %ends -> (i32) {\n          scf.yield %v : i32\n        } else {\n"
      "          %v1 = arith.addi %v, %c1 : i32\n          scf.yield %v1 : i32\n        }\n";
  EXPECT_FALSE(repeat(branch, slots(), 10));
  EXPECT_TRUE(repeat(branch, slots(), 15));
}

/// A slot that no loop carries has no period that a run could show.
TEST(Positions, SlotsOfIterationNumbersAreNoPosition) {
  EXPECT_TRUE(decide_apart("%pa[%u]", "%pa[%u]"));
  EXPECT_FALSE(decide_apart("        %x = ttg.memdesc_index %pa[%u]",
                            "        %r = arith.remsi %i, %c3 : i32\n"
                            "        %x = ttg.memdesc_index %pa[%r]"));
  EXPECT_TRUE(decide_apart("        ttng.arrive_barrier %x, 1, %true",
                           "        %begun = arith.cmpi sle, %c1, %i : i32\n"
                           "        ttng.arrive_barrier %x, 1, %begun"))
      << "questions about trips are counted apart";
  EXPECT_FALSE(decide_apart("        ttng.arrive_barrier %x, 1, %true",
                            "        %late = arith.cmpi sle, %c5, %i : i32\n"
                            "        ttng.arrive_barrier %x, 1, %late"))
      << "the first iterations do not show what a later one does";
}

/// A view of the second ring that the first ring's slot chooses is of both rings' groups.
TEST(Positions, ViewsAreOfTheGroupThatChoosesThem) {
  const std::string chosen =
      "        %v1 = arith.addi %v, %c1 : i32\n        %over = arith.cmpi eq, %v1, %c5 : i32\n"
      "        %next = arith.select %over, %c0, %v1 : i32\n"
      "        %at = scf.if %ends -> (!ttg.memdesc<1xi64, #s, #smem, mutable>) {\n"
      "          scf.yield %y : !ttg.memdesc<1xi64, #s, #smem, mutable>\n        } else {\n"
      "          scf.yield %x : !ttg.memdesc<1xi64, #s, #smem, mutable>\n        }\n"
      "        ttng.arrive_barrier %at, 1, %true : !ttg.memdesc<1xi64, #s, #smem, mutable>\n";
  EXPECT_FALSE(repeat(chosen, slots(), 10));
}

}  // namespace
}  // namespace twill::tests
