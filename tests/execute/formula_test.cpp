#include "twill/execute/formula.h"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace twill::execute {
namespace {

float value(const std::string& text, const std::vector<float>& operands) {
  const auto formula = ir::read_formula(text, operands.size());
  return formula ? run(*formula, operands) : NAN;
}

// Protects: each word takes its operands in the order of the text, and computes its function.
TEST(Formula, EveryWordHasItsMeaning) {
  struct Case {
    const char* text;
    float expected;
  };
  const Case cases[] = {
      {"x0 x1 add", 5.25F},
      {"x0 x1 sub", 0.75F},
      {"x0 x1 mul", 6.75F},
      {"x0 x1 div", 3 / 2.25F},
      {"x0 x1 max", 3},
      {"x0 x1 min", 2.25F},
      {"x0 neg", -3},
      {"x0 exp", std::exp(3.0F)},
      {"x0 exp2", 8},
      {"x0 log", std::log(3.0F)},
      {"8 log2", 3},
      {"x1 sqrt", 1.5F},
      {"x1 rsqrt", 1 / 1.5F},
      {"x0 tanh", std::tanh(3.0F)},
      {"x0 erf", std::erf(3.0F)},
      {"x0 neg abs", 3},
      {"x0 x1 lt", 0},
      {"x1 x0 lt", 1},
      {"x0 x0 le", 1},
      {"x0 x1 gt", 1},
      {"x1 x0 ge", 0},
      {"x0 x0 eq", 1},
      {"x0 x0 ne", 0},
      {"1 0 and", 0},
      {"1 0 or", 1},
      {"0 not", 1},
      {"1 x0 x1 select", 3},
      {"0 x0 x1 select", 2.25F},
      {"x0 x1 x0 mul add", 9.75F},
  };
  for (const Case& it : cases) {
    EXPECT_EQ(value(it.text, {3, 2.25F}), it.expected) << it.text;
  }
}

// Protects: results are rounded like tensors' elements: ties to even, subnormals, and infinities
// beyond the largest number.
TEST(Formula, RoundsAsElementsDo) {
  EXPECT_EQ(value("x0 f16", {1 + 0x1p-11F}), 1);
  EXPECT_EQ(value("x0 f16", {1 + 0x3p-11F}), 1 + 0x1p-9F);
  EXPECT_EQ(value("x0 f16", {0x1p-24F}), 0x1p-24F);
  EXPECT_EQ(value("x0 f16", {65520}), INFINITY);
  EXPECT_EQ(value("x0 bf16", {1 + 0x1p-8F}), 1);
  EXPECT_EQ(value("x0 bf16 neg", {3e38F}), -value("x0 bf16", {3e38F}));
  EXPECT_TRUE(std::isnan(value("x0 f16", {NAN})));
}

// Protects: a text that is no formula is refused, for every kind of fault.
TEST(Formula, WrongTextsAreNone) {
  for (const char* text : {"", "add", "x0 add", "x0 x1", "x2", "x", "x0 x1 plus", "x0 x1 add add",
                           "1 0", "1..2", "x-1", "x99999999999999999999"}) {
    EXPECT_FALSE(ir::read_formula(text, 2).has_value()) << text;
  }
}

// Protects: the schedule counts functions on the unit of special functions separately.
TEST(Formula, CountsArithmeticByUnit) {
  const auto formula = ir::read_formula("x0 0.5 mul x0 erf 1 add mul f16", 1);
  ASSERT_TRUE(formula.has_value());
  const ir::FormulaCount count = ir::count_of(*formula);
  EXPECT_EQ(count.special, 1);
  EXPECT_EQ(count.others, 4);
}

}  // namespace
}  // namespace twill::execute
