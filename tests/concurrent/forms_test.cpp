// Numbers that two roles compute: alike where both begin and go on alike, and only there. What is
// taken for alike is asked once, so that a mistake here would hide roles that miss each other.
#include "twill/concurrent/forms.h"

#include <string>

#include <gtest/gtest.h>

#include "twill/frontend/ttgir/read.h"

namespace twill::tests {
namespace {

/// Whether a loop of the default warps and one of the partition carry alike numbers.
bool are_alike(const std::string& here, const std::string& there) {
  const std::string text = R"(
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @f(%n: i32) {
    ttg.warp_specialize(%n)
    default {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
)" + here + R"(
      ttg.warp_yield
    }
    partition0(%m: i32) num_warps(4) {
      %c0_1 = arith.constant 0 : i32
      %c1_1 = arith.constant 1 : i32
)" + there + R"(
      ttg.warp_return
    } : (i32) -> ()
    tt.return
  }
}
)";
  const auto program = frontend::read_ttgir(text, "k.ttgir");
  if (!program) throw std::runtime_error(to_string(program.error()));
  const ir::OpId function = ir::functions(*program)[0];
  concurrent::Forms forms(*program, function);
  std::vector<concurrent::LinearForm> outer;
  for (const ir::Loop& loop : ir::loops(*program, function)) {
    if (loop.depth == 0) outer.push_back(forms.of(loop.carried[0].argument));
  }
  return outer.size() == 2 && outer[0] == outer[1];
}

std::string nest(const std::string& names, const std::string& bound, const std::string& sum) {
  return "%r" + names + " = scf.for %i" + names + " = %c0" + names + " to " + bound + " step %c1" +
         names + " iter_args(%a" + names + " = %c1" + names + ") -> (i32) : i32 {\n" +  //
         "%s" + names + " = scf.for %j" + names + " = %c0" + names + " to " + bound + " step %c1" +
         names + " iter_args(%x" + names + " = %a" + names + ") -> (i32) : i32 {\n" +  //
         "%y" + names + " = arith.addi " + sum + " : i32\n" +                          //
         "scf.yield %y" + names + " : i32\n}\n" +                                      //
         "scf.yield %s" + names + " : i32\n}\n";
}

TEST(Forms, WhatInnerLoopsCarryIsNotWhatOuterOnesCarry) {
  EXPECT_TRUE(are_alike(nest("", "%n", "%x, %a"), nest("_1", "%m", "%x_1, %a_1")));
  EXPECT_FALSE(are_alike(nest("", "%n", "%x, %a"), nest("_1", "%m", "%x_1, %x_1")));
  EXPECT_FALSE(are_alike(nest("", "%n", "%x, %a"), nest("_1", "%m", "%x_1, %c1_1")));
}

std::string pair(const std::string& names, const std::string& bound, const std::string& yielded) {
  return "%r" + names + ":2 = scf.for %i" + names + " = %c0" + names + " to " + bound +
         " step %c1" + names + " iter_args(%a" + names + " = %c0" + names + ", %b" + names +
         " = %c1" + names + ") -> (i32, i32) : i32 {\n" +  //
         "%y" + names + " = arith.addi %a" + names + ", %b" + names + " : i32\n" + "scf.yield " +
         yielded + " : i32, i32\n}\n";
}

/// Numbers that depend on each other are compared together.
TEST(Forms, CarriedNumbersThatDependOnEachOther) {
  EXPECT_TRUE(are_alike(pair("", "%n", "%b, %y"), pair("_1", "%m", "%b_1, %y_1")));
  EXPECT_FALSE(are_alike(pair("", "%n", "%b, %y"), pair("_1", "%m", "%b_1, %b_1")));
  EXPECT_FALSE(are_alike(pair("", "%n", "%b, %y"), pair("_1", "%m", "%y_1, %b_1")));
}

std::string up_to(const std::string& names, const std::string& bound, const std::string& compared,
                  const std::string& step) {
  return "%r" + names + " = scf.while (%a" + names + " = %c0" + names + ") : (i32) -> i32 {\n" +
         "%w" + names + " = arith.muli %a" + names + ", %a" + names + " : i32\n" +  //
         "%z" + names + " = arith.cmpi " + compared + ", %w" + names + ", " + bound + " : i32\n" +
         "scf.condition(%z" + names + ") %a" + names + " : i32\n} do {\n^bb0(%d" + names +
         ": i32):\n" +  //
         "%y" + names + " = arith.addi %d" + names + ", " + step + " : i32\n" + "scf.yield %y" +
         names + " : i32\n}\n";
}

/// While loops are alike if their conditions are, too.
TEST(Forms, WhileLoopsThatEndAlike) {
  EXPECT_TRUE(are_alike(up_to("", "%n", "slt", "%c1"), up_to("_1", "%m", "slt", "%c1_1")));
  EXPECT_FALSE(are_alike(up_to("", "%n", "slt", "%c1"), up_to("_1", "%m", "sle", "%c1_1")));
  EXPECT_FALSE(are_alike(up_to("", "%n", "slt", "%c1"), up_to("_1", "%m", "slt", "%m")));
}

}  // namespace
}  // namespace twill::tests
