#include "twill/frontend/tasks/tile_layouts.h"

#include <gtest/gtest.h>

/// Protects stores of products through descriptors of more dimensions: every element keeps its
/// place.
namespace twill::frontend::from_tasks {
namespace {

/// The layout as Triton 3.6 infers it for `tt.reshape` in kernels/gemm_batched.
TEST(TileLayouts, AReshapedProductIsLaidOutAsTritonDoes) {
  TileLayouts layouts(Products{4, 128});
  const auto found = layouts.reshaped(layouts.product(128), {128, 128}, {1, 128, 128});
  ASSERT_EQ(found, "#linear128x128_1x128x128");
  EXPECT_TRUE(layouts.definitions().contains(
      "#linear128x128_1x128x128 = #ttg.linear<{register = [[0, 0, 1], [0, 8, 0], [0, 0, 8], "
      "[0, 0, 16], [0, 0, 32], [0, 0, 64], [0, 64, 0]], lane = [[0, 0, 2], [0, 0, 4], [0, 1, 0], "
      "[0, 2, 0], [0, 4, 0]], warp = [[0, 16, 0], [0, 32, 0]], block = []}>"));
}

TEST(TileLayouts, RowsMayBecomeSeveralDimensions) {
  TileLayouts layouts(Products{8, 64});
  const auto found = layouts.reshaped(layouts.product(64), {128, 64}, {2, 8, 8, 64});
  ASSERT_TRUE(found);
  EXPECT_TRUE(layouts.definitions().contains(
      *found +
      " = #ttg.linear<{register = [[0, 0, 0, 1], [0, 1, 0, 0], [0, 0, 0, 8], "
      "[0, 0, 0, 16], [0, 0, 0, 32]], lane = [[0, 0, 0, 2], [0, 0, 0, 4], [0, 0, 1, 0], "
      "[0, 0, 2, 0], [0, 0, 4, 0]], warp = [[0, 2, 0, 0], [0, 4, 0, 0], [1, 0, 0, 0]], "
      "block = []}>"));
}

TEST(TileLayouts, OtherTilesAreMoved) {
  TileLayouts layouts(Products{4, 96});
  EXPECT_FALSE(layouts.reshaped(layouts.product(96), {64, 96}, {1, 64, 96}));
  EXPECT_FALSE(layouts.reshaped(layouts.product(64), {64, 128}, {1, 64, 128}));
  EXPECT_FALSE(layouts.reshaped(layouts.product(64), {32, 64}, {1, 32, 64}));
  EXPECT_FALSE(layouts.reshaped(layouts.loaded({64, 64}, 2), {64, 64}, {1, 64, 64}));
}

}  // namespace
}  // namespace twill::frontend::from_tasks
