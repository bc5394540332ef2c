#include "twill/frontend/ttgir/straight_carries.h"

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "twill/frontend/ttgir/read.h"
#include "twill/ir/loop.h"

/// Protects: a loop that carries a transposed tile then carries the tile itself. Other loops stay.
namespace twill::frontend::ttgir {
namespace {

/// A loop that carries a tile and a sum; `turn` computes the next tile from %m.
std::string carrying(const std::string& init, const std::string& turn,
                     const std::string& more = "") {
  return R"(module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k(%x: tensor<32x16xf32>, %n: i32, %out: !tt.ptr<f32>, %p: tensor<16x32x!tt.ptr<f32>>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<16x32xf32>
    %given = tt.trans %x {order = array<i32: 1, 0>} : tensor<32x16xf32> -> tensor<16x32xf32>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0, %t = )" +
         init + R"() -> (i32, tensor<16x32xf32>) : i32 {
      %back = tt.trans %t {order = array<i32: 1, 0>} : tensor<16x32xf32> -> tensor<32x16xf32>
      %m = arith.addf %back, %x : tensor<32x16xf32>
      %sum = arith.addi %s, %i : i32
      )" +
         more + R"(
      %turned = )" +
         turn + R"(
      scf.yield %sum, %turned : i32, tensor<16x32xf32>
    }
    tt.store %p, %r#1 : tensor<16x32x!tt.ptr<f32>>
    tt.return
  }
}
)";
}

constexpr const char* kTurn =
    "tt.trans %m {order = array<i32: 1, 0>} : tensor<32x16xf32> -> tensor<16x32xf32>";

std::optional<ir::Program> straight(const std::string& text) {
  const auto read = read_ttgir(text, "k.ttgir");
  if (!read) throw std::runtime_error(to_string(read.error()));
  return straight_carries(*read);
}

TEST(StraightCarries, AreOfWhatTheLoopMakes) {
  for (const std::string init : {"%zero", "%given"}) {
    const auto made = straight(carrying(init, kTurn));
    ASSERT_TRUE(made) << init;
    const auto loops = ir::loops(*made, made->module());
    ASSERT_EQ(loops.size(), 1U);
    ASSERT_EQ(loops[0].carried.size(), 1U);  // the sum has no reader
    const ir::Carried& tile = loops[0].carried[0];
    const ir::Op* const sum = ir::defining_op(*made, tile.yielded);
    EXPECT_EQ(sum->kind, ir::OpKind::fadd);
    EXPECT_EQ(sum->operands[0], tile.argument);
    EXPECT_EQ(ir::type_of(*made, tile.init), ir::type_of(*made, tile.argument));
    EXPECT_EQ(ir::constant_number(*made, tile.init).has_value(), init == "%zero");
    ASSERT_EQ(made->value(*tile.result).uses.size(), 1U);
    EXPECT_EQ(made->op(made->value(*tile.result).uses[0].op).kind, ir::OpKind::transpose);
  }
}

TEST(StraightCarries, OthersStay) {
  EXPECT_TRUE(straight(carrying("%zero", kTurn)));
  EXPECT_FALSE(straight(carrying("%zero", "arith.addf %t, %t : tensor<16x32xf32>")));
  EXPECT_FALSE(straight(carrying("%zero", kTurn, "tt.store %p, %t : tensor<16x32x!tt.ptr<f32>>")));
}

}  // namespace
}  // namespace twill::frontend::ttgir
