// Integers computed apart from each other: each group of a loop's carried integers repeats itself
// after its own period, however long the common period is.
#include "twill/run/positions.h"

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

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

bool repeat(const std::string& of_b, const Rounds& rounds, std::size_t longest) {
  const auto program = frontend::read_ttgir(rings(of_b), "rings.ttgir");
  if (!program) throw std::runtime_error(to_string(program.error()));
  const ir::OpId function = ir::functions(*program)[0];
  const auto guide = concurrent::make_guide(*program, function, 0);
  if (!guide) throw std::runtime_error(to_string(guide.error()));
  const ir::Loop loop = ir::loops(*program, function)[0];
  const auto end = ir::terminator(*program, loop.body);
  return run::Positions(*program, function, *guide)
      .repeat(program->op(*end).operands, rounds, longest);
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

}  // namespace
}  // namespace twill::tests
