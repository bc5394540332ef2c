#include "twill/frontend/ttgir/flat_nests.h"

#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "twill/frontend/ttgir/read.h"
#include "twill/ir/loop.h"

/// Protects: nested loops that add to the same tiles become one loop with the same number of
/// iterations. Loops with further work stay.
namespace twill::frontend::ttgir {
namespace {

/// Loops over rows, columns and depth; `row` is in the first loop, `behind` after the second.
std::string nested(const std::string& row, const std::string& behind,
                   const std::string& columns = "%n") {
  return R"(module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k(%x: !tt.ptr<f32>, %n: i32, %from: i32, %by: i32, %given: f32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %zero = arith.constant dense<0.0> : tensor<16xf32>
    %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %zero) -> (tensor<16xf32>) : i32 {
      )" +
         row +
         R"(
      %m = scf.for %j = %from to )" +
         columns + R"( step %by iter_args(%b = %a) -> (tensor<16xf32>) : i32 {
        %p = arith.addi %row, %j : i32
        %d = scf.for %k = %c0 to %n step %c1 iter_args(%c = %b) -> (tensor<16xf32>) : i32 {
          %q = arith.addi %p, %k : i32
          %at = tt.addptr %x, %q : !tt.ptr<f32>, i32
          %value = tt.load %at : !tt.ptr<f32>
          %tile = tt.splat %value : f32 -> tensor<16xf32>
          %sum = arith.addf %c, %tile : tensor<16xf32>
          scf.yield %sum : tensor<16xf32>
        }
        scf.yield %d : tensor<16xf32>
      }
      )" +
         behind +
         R"(
      scf.yield %m : tensor<16xf32>
    }
    %out = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    tt.store %out, %r : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}
)";
}

constexpr const char* kRow = "%row = arith.muli %i, %n : i32";

std::optional<ir::Program> flat(const std::string& text) {
  const auto read = read_ttgir(text, "k.ttgir");
  if (!read) throw std::runtime_error(to_string(read.error()));
  return flat_nests(*read);
}

std::size_t loops_of(const std::optional<ir::Program>& program) {
  return program ? ir::loops(*program, program->module()).size() : 0;
}

TEST(FlatNests, AreOneLoop) {
  const auto made = flat(nested(kRow, ""));
  ASSERT_EQ(loops_of(made), 1U);
  const ir::Loop loop = ir::loops(*made, made->module())[0];
  ASSERT_EQ(loop.carried.size(), 1U);
  EXPECT_EQ(ir::constant_integer(*made, *loop.step), 1);
  EXPECT_EQ(ir::defining_op(*made, *loop.upper)->kind, ir::OpKind::mul);
  const ir::Op* const sum = ir::defining_op(*made, loop.carried[0].yielded);
  EXPECT_EQ(sum->operands[0], loop.carried[0].argument);
  EXPECT_EQ(ir::constant_number(*made, loop.carried[0].init), 0.0);
}

// Later passes look for a known number of iterations: a role then needs no branch for few
// iterations.
TEST(FlatNests, KnownNumbersMultiply) {
  std::string text = nested(kRow, "", "%c3");
  for (const auto& [old, known] :
       {std::pair("%from to", "%c0 to"), std::pair("step %by", "step %c1"),
        std::pair("%k = %c0 to %n", "%k = %c0 to %c3")}) {
    text.replace(text.find(old), std::string(old).size(), known);
  }
  const auto made = flat(text);
  ASSERT_EQ(loops_of(made), 1U);
  EXPECT_EQ(ir::constant_trip_count(*made, ir::loops(*made, made->module())[0]), 27);
}

TEST(FlatNests, StayWhereMoreIsDone) {
  // The two inner loops become one. The outer loop has an effect, or changes the inner bounds.
  EXPECT_EQ(loops_of(flat(nested(kRow, "tt.store %x, %given : !tt.ptr<f32>"))), 2U);
  EXPECT_EQ(loops_of(flat(nested(kRow, "", "%i"))), 2U);
}

}  // namespace
}  // namespace twill::frontend::ttgir
