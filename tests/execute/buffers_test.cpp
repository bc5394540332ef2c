#include "execute/running.h"

// Views of buffers, copies between memories, and rows that are gathered and scattered.
namespace twill::execute {
namespace {

using testing::at;
using testing::run;
using testing::storing;

constexpr std::int64_t kFrom = 0, kTo = 2;

// Protects: reads and writes of a transposed buffer in another shape, whose elements have no common
// stride.
TEST(Buffers, ThatAreTransposedHaveOtherShapes) {
  const std::string square =
      "!ttg.memdesc<2x8xf32, #ttg.swizzled_shared<{vec = 1, perPhase = 1, "
      "maxPhase = 1, order = [1, 0]}>, #ttg.shared_memory, mutable>";
  const std::string turned =
      "!ttg.memdesc<8x2xf32, #ttg.swizzled_shared<{vec = 1, perPhase = 1, "
      "maxPhase = 1, order = [0, 1]}>, #ttg.shared_memory, mutable>";
  const std::string flat =
      "!ttg.memdesc<16xf32, #ttg.swizzled_shared<{vec = 1, perPhase = 1, "
      "maxPhase = 1, order = [0]}>, #ttg.shared_memory, mutable>";
  const std::string views = "%t = ttg.memdesc_trans %m {order = array<i32: 1, 0>} : " + square +
                            " -> " + turned + "\n%f = ttg.memdesc_reshape %t : " + turned + " -> " +
                            flat + "\n";
  const auto read = run(
      storing("%q = tt.reshape %x : tensor<16xf32> -> tensor<2x8xf32>\n"
              "%m = ttg.local_alloc %q : (tensor<2x8xf32>) -> " +
                  square + "\n" + views + "%r = ttg.local_load %f : " + flat + " -> tensor<16xf32>",
              "f32"));
  ASSERT_TRUE(read.result.has_value()) << to_string(read.result.error());
  const auto written = run(storing("%m = ttg.local_alloc : () -> " + square + "\n" + views +
                                       "ttg.local_store %x, %f : tensor<16xf32> -> " + flat +
                                       "\n%q = ttg.local_load %m : " + square +
                                       " -> tensor<2x8xf32>\n"
                                       "%r = tt.reshape %q : tensor<2x8xf32> -> tensor<16xf32>",
                                   "f32"));
  ASSERT_TRUE(written.result.has_value()) << to_string(written.result.error());
  for (int i = 0; i < 16; ++i) {
    const int there = i % 2 * 8 + i / 2;
    EXPECT_EQ(at(read.memory, kTo, i), at(read.memory, kFrom, there)) << i;
    EXPECT_EQ(at(written.memory, kTo, there), at(written.memory, kFrom, i)) << i;
  }
}

// Protects: a copy from shared to tensor memory.
TEST(Buffers, AreCopiedToTensorMemory) {
  const std::string shared =
      "!ttg.memdesc<4x4xf32, #ttg.swizzled_shared<{vec = 1, perPhase = 1, "
      "maxPhase = 1, order = [1, 0]}>, #ttg.shared_memory, mutable>";
  const std::string tensor =
      "!ttg.memdesc<4x4xf32, #ttng.tensor_memory_encoding<blockM = 128, "
      "blockN = 4, colStride = 1>, #ttng.tensor_memory, mutable>";
  const auto ran =
      run(storing("%q = tt.reshape %x : tensor<16xf32> -> tensor<4x4xf32>\n"
                  "%m = ttg.local_alloc %q : (tensor<4x4xf32>) -> " +
                      shared + "\n%d = ttng.tmem_alloc : () -> " + tensor +
                      "\nttng.tmem_copy %m, %d : " + shared + ", " + tensor +
                      "\n%w = ttng.tmem_load %d : " + tensor +
                      " -> tensor<4x4xf32>\n"
                      "%r = tt.reshape %w : tensor<4x4xf32> -> tensor<16xf32>",
                  "f32"));
  ASSERT_TRUE(ran.result.has_value()) << to_string(ran.result.error());
  for (int i = 0; i < 16; ++i) EXPECT_EQ(at(ran.memory, kTo, i), at(ran.memory, kFrom, i)) << i;
}

// Protects: gathers and scatters of single rows. Rows outside of the tensor read as zeros and are
// not written.
TEST(Buffers, RowsAreGatheredAndScattered) {
  const std::string text = R"(
tt.func public @f(%a: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
  %rows = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
  %three = arith.constant dense<3> : tensor<4xi32>
  %two = arith.constant dense<2> : tensor<4xi32>
  %down = arith.subi %two, %rows : tensor<4xi32>
  %up = arith.muli %rows, %three : tensor<4xi32>
  %c1 = arith.constant 1 : i32
  %extent = arith.constant 8 : i32
  %step = arith.constant 8 : i64
  %one = arith.constant 1 : i64
  %from = tt.make_tensor_descriptor %a, [%extent, %extent], [%step, %one] : <f32>, <tensor<1x4xf32>>
  %to = tt.make_tensor_descriptor %o, [%extent, %extent], [%step, %one] : <f32>, <tensor<1x4xf32>>
  %t = tt.descriptor_gather %from[%down, %c1] : (!tt.tensordesc<tensor<1x4xf32>>, tensor<4xi32>, i32) -> tensor<4x4xf32>
  tt.descriptor_scatter %to[%up, %c1], %t : !tt.tensordesc<tensor<1x4xf32>>, tensor<4xi32>, i32, tensor<4x4xf32>
  tt.return
})";
  const auto ran = run(text);
  ASSERT_TRUE(ran.result.has_value()) << to_string(ran.result.error());
  for (int row = 0; row < 3; ++row) {  // the fourth goes to row 9
    for (int column = 0; column < 4; ++column) {
      EXPECT_EQ(at(ran.memory, 1, row * 3 * 8 + 1 + column),
                at(ran.memory, 0, (2 - row) * 8 + 1 + column))
          << row << ", " << column;
    }
  }
  EXPECT_EQ(ran.memory.written(1).size(), 12U);
}

}  // namespace
}  // namespace twill::execute
