#include "twill/dialect/tensor_map.h"

#include <gtest/gtest.h>

/// Protects: tensor maps for TMA have PTX's numbers of element types. With the driver's number for
/// bf16, kernels that make their descriptors ended with an illegal instruction on an H200.
namespace twill::dialect {
namespace {

TEST(TensorMap, TypesHaveTheNumbersOfPtx) {
  ir::TypeTable types;
  const auto number = [&](const char* name) { return map_type(types.scalar(name)); };
  // Numbers that Triton 3.6 and 3.9 write, type by type.
  EXPECT_EQ(number("i8"), 0);
  EXPECT_EQ(number("i16"), 1);
  EXPECT_EQ(number("ui32"), 2);
  EXPECT_EQ(number("i32"), 3);
  EXPECT_EQ(number("ui64"), 4);
  EXPECT_EQ(number("i64"), 5);
  EXPECT_EQ(number("f16"), 6);
  EXPECT_EQ(number("f32"), 7);
  EXPECT_EQ(number("f64"), 9);
  EXPECT_EQ(number("bf16"), 10);
  EXPECT_EQ(number("f8E4M3FN"), 0);
  EXPECT_EQ(number("f8E5M2"), 0);
  EXPECT_FALSE(number("i1"));
}

}  // namespace
}  // namespace twill::dialect
