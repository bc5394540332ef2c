// Operands of products with block scales.
#include "twill/execute/scales.h"

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "twill/frontend/ttgir/read.h"

namespace twill::execute {
namespace {

/// A module with a scaled product whose left operand has the type `type`.
ir::Program module_of(const std::string& type) {
  std::ifstream in(std::string(TWILL_SOURCE_DIR) + "/tests/concurrent/gluon/scaled.ttgir");
  std::ostringstream text;
  text << in.rdbuf();
  std::string module = text.str();
  const std::string old = "lhs = e4m3";
  module.replace(module.find(old), old.size(), "lhs = " + type);
  auto program = frontend::read_ttgir(module, "scaled.ttgir");
  if (!program) throw std::runtime_error(to_string(program.error()));
  return std::move(*program);
}

ir::OpId product_of(const ir::Program& program) {
  for (const ir::OpId op : ir::walk(program, program.module())) {
    if (program.op(op).kind == ir::OpKind::tcgen05_scaled) return op;
  }
  throw std::runtime_error("the module has no scaled product");
}

Numbers scaled(const Tile& operand, const Tile& scales, ScaledSide side,
               const std::string& type = "e4m3") {
  const ir::Program program = module_of(type);
  const auto made = scaled_operand(program, product_of(program), operand, scales, side);
  if (!made) throw std::runtime_error(to_string(made.error()));
  return (*made)->numbers();
}

// Each block of the depth has a scale for each row of the left operand, and each column of the
// right operand. Bytes are powers of two; 255 is NaN.
TEST(Scales, MultiplyBlocksOfTheDepth) {
  const Tile powers{{1, 2}, Integers{128, 126}};
  EXPECT_EQ(scaled({{1, 4}, Numbers{1, 2, 3, 4}}, powers, ScaledSide::left),
            (Numbers{2, 4, 1.5, 2}));
  EXPECT_EQ(scaled({{4, 1}, Numbers{1, 2, 3, 4}}, powers, ScaledSide::right),
            (Numbers{2, 4, 1.5, 2}));
  const Tile columns{{2, 1}, Numbers{3, 5}};
  EXPECT_EQ(scaled({{2, 2}, Numbers{1, 2, 3, 4}}, columns, ScaledSide::right),
            (Numbers{3, 10, 9, 20}));
  const Tile none{{1, 1}, Integers{-1}};
  EXPECT_TRUE(std::isnan(scaled({{1, 1}, Numbers{1}}, none, ScaledSide::left)[0]));
}

// Two numbers in a byte are neighbours along the depth, the lower half first.
TEST(Scales, PackedNumbersAreUnpacked) {
  const Tile one{{1, 1}, Integers{127}};
  EXPECT_EQ(scaled({{1, 2}, Integers{0x21, 0xf7}}, one, ScaledSide::left, "e2m1"),
            (Numbers{0.5, 1, 6, -6}));
}

// Bytes of another format, and scales of another shape, are refused.
TEST(Scales, OthersAreRefused) {
  const ir::Program program = module_of("e2m3");
  const ir::OpId op = product_of(program);
  const Tile one{{1, 1}, Integers{127}};
  EXPECT_FALSE(scaled_operand(program, op, {{1, 2}, Integers{1, 2}}, one, ScaledSide::left));
  const Tile three{{1, 3}, Integers{127, 127, 127}};
  EXPECT_FALSE(scaled_operand(program, op, {{1, 4}, Numbers{1, 2, 3, 4}}, three, ScaledSide::left));
  EXPECT_FALSE(scaled_operand(program, op, {{2, 2}, Numbers{1, 2, 3, 4}}, one, ScaledSide::left));
}

}  // namespace
}  // namespace twill::execute
