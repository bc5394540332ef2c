#include "twill/dialect/register_layouts.h"

#include <gtest/gtest.h>

#include "twill/frontend/ttgir/read.h"
#include "twill/ir/builder.h"

/// Protects: a layout adapted to other warps and rows is the layout that Triton uses for such
/// roles. An equal layout of the text is reused, not made again.
namespace twill::dialect {
namespace {

/// Layouts of the arguments of a function, with the table that owns them.
struct Laid {
  explicit Laid(const std::string& tensors) : program(read(tensors)), builder(program) {}

  static ir::Program read(const std::string& tensors) {
    auto program = frontend::read_ttgir(
        "module {\n  tt.func public @f(" + tensors + ") {\n    tt.return\n  }\n}\n", "f.ttgir");
    EXPECT_TRUE(program) << program.error().message;
    return *std::move(program);
  }
  ir::Attribute layout(std::size_t argument) const {
    const auto arguments = ir::function_arguments(program, ir::functions(program).front());
    return ir::type_of(program, arguments[argument])->encoding;
  }
  std::string piece(std::size_t argument, const Piece& piece) {
    const auto laid = for_piece(builder.types(), layout(argument), piece);
    return laid ? (*laid)->text : "! " + laid.error();
  }

  ir::Program program;
  ir::ProgramBuilder builder;
};

constexpr const char* kMma =
    "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, "
    "256, 16]}>";

std::string tensor(const std::string& shape, const std::string& layout) {
  return "tensor<" + shape + ", " + layout + ">";
}

TEST(RegisterLayouts, ProductsHaveAllWarpsAlongTheRows) {
  Laid laid("%a: " + tensor("128x256xf32", kMma) + ", %b: " +
            tensor("128xf32", std::string("#ttg.slice<{dim = 1, parent = ") + kMma + "}>"));
  EXPECT_EQ(laid.piece(0, {{64, 256}, 0, 4}),
            "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], "
            "instrShape = [16, 256, 16]}>");
  EXPECT_NE(laid.piece(1, {{64}, 0, 4}).find("dim = 1, parent = #ttg.nvidia_mma<"),
            std::string::npos);
  EXPECT_NE(laid.piece(1, {{64}, 0, 4}).find("warpsPerCTA = [4, 1]"), std::string::npos);
  EXPECT_TRUE(is_of_product(laid.layout(0)));
  EXPECT_TRUE(is_of_product(laid.layout(1)));
}

/// Registers of a tile are counted for one thread, including elements that other threads also hold.
TEST(RegisterLayouts, ElementsOfAThread) {
  const std::string operand =
      std::string("#ttg.dot_op<{opIdx = 0, parent = ") + kMma + ", kWidth = 2}>";
  const Laid laid(
      "%a: " + tensor("128x256xf32", kMma) +
      ", %b: " + tensor("128xf32", std::string("#ttg.slice<{dim = 1, parent = ") + kMma + "}>") +
      ", %c: " + tensor("256xf32", std::string("#ttg.slice<{dim = 0, parent = ") + kMma + "}>") +
      ", %d: " + tensor("128x64xf16", operand) + ", %e: " +
      tensor("64x64xf16",
             "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], "
             "warpsPerCTA = [4, 1], order = [1, 0]}>") +
      ", %f: " +
      tensor("64x1xf32",  // a column: a thread's eight elements of a row are one
             "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [1, 32], "
             "warpsPerCTA = [4, 1], order = [1, 0]}>"));
  const std::vector<std::vector<std::int64_t>> shapes = {{128, 256}, {128},    {256},
                                                         {128, 64},  {64, 64}, {64, 1}};
  const std::int64_t counts[] = {128, 2, 64, 32, 32, 16};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    EXPECT_EQ(elements_of_thread(laid.layout(i), shapes[i]), counts[i]) << i;
  }
}

TEST(RegisterLayouts, BlocksLoseAndGainWarpsWhereTheyHaveMost) {
  const auto blocks = [](const std::string& warps) {
    return "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = " + warps +
           ", order = [1, 0]}>";
  };
  Laid laid("%a: " + tensor("128x64xf16", blocks("[4, 2]")));
  EXPECT_EQ(laid.piece(0, {{128, 64}, {}, 4}), blocks("[2, 2]"));
  EXPECT_EQ(laid.piece(0, {{128, 64}, {}, 1}), blocks("[1, 1]"));
  EXPECT_EQ(laid.piece(0, {{128, 64}, {}, 16}), blocks("[8, 2]"));
  EXPECT_FALSE(is_of_product(laid.layout(0)));
  ASSERT_TRUE(neighbours_of(laid.layout(0)));
  EXPECT_EQ(neighbours_of(laid.layout(0))->dimension, 1U);
  EXPECT_EQ(neighbours_of(laid.layout(0))->count, 8);
}

TEST(RegisterLayouts, LinearLayoutsDropWhatIsBeyondThePiece) {
  const std::string whole =
      "#ttg.linear<{register = [[0, 1], [64, 0]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, "
      "0]], warp = [[32, 0], [0, 2]], block = []}>";
  Laid laid("%a: " + tensor("128x4xf32", whole));
  EXPECT_EQ(laid.piece(0, {{64, 4}, 0, 4}),
            "#ttg.linear<{register = [[0, 1]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], "
            "warp = [[32, 0], [0, 2]], block = []}>");
  EXPECT_EQ(laid.piece(0, {{64, 4}, 0, 2}),
            "#ttg.linear<{register = [[0, 1], [0, 2]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], "
            "[16, 0]], warp = [[32, 0]], block = []}>");
  EXPECT_EQ(laid.piece(0, {{16, 4}, 0, 4}), "! has the rows of one part in the lanes of a warp");
}

/// A row vector beside a tile in a linear layout, such as a scan's result that scales the tile's
/// rows.
TEST(RegisterLayouts, SlicesOfLinearLayoutsFollowTheTile) {
  const auto linear = [](const std::string& rest) {
    return "#ttg.linear<{register = [[0, 1]" + rest +
           "], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [0, 2]], block = "
           "[]}>";
  };
  const auto slice = [](const std::string& of) {
    return "#ttg.slice<{dim = 1, parent = " + of + "}>";
  };
  Laid laid("%a: " + tensor("128xf32", slice(linear(", [64, 0]"))));
  EXPECT_EQ(laid.piece(0, {{64}, 0, 4}), slice(linear("")));
  EXPECT_EQ(laid.piece(0, {{16}, 0, 4}), "! has the rows of one part in the lanes of a warp");
}

/// Triton infers the layout of a transposed tile without registers that hold duplicates.
TEST(RegisterLayouts, WarpsThatHoldWhatOthersHoldAreTheFirstToGo) {
  const std::string whole =
      "#ttg.linear<{register = [[1, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], "
      "warp = [[0, 8], [0, 0], [0, 16]], block = []}>";
  Laid laid("%a: " + tensor("8x32xf16", whole));
  EXPECT_EQ(laid.piece(0, {{8, 32}, {}, 4}),
            "#ttg.linear<{register = [[1, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], "
            "warp = [[0, 8], [0, 16]], block = []}>");
  EXPECT_EQ(laid.piece(0, {{8, 32}, {}, 2}),
            "#ttg.linear<{register = [[1, 0], [0, 16]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], "
            "[0, 4]], warp = [[0, 8]], block = []}>");
}

/// A product's tile is rearranged for stores without leaving its warps. Triton 3.6 and 3.9 report
/// 2048 bytes of shared memory for four warps, 16 a thread.
TEST(RegisterLayouts, RowsAreStoredFromWithinWarps) {
  const std::string split =
      "#ttg.linear<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], "
      "[1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = []}>";
  const std::string blocks =
      "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order "
      "= [1, 0]}>";
  Laid laid("%a: " + tensor("256x64xf16", kMma) + ", %b: " + tensor("64x64xf32", split) +
            ", %c: " + tensor("64x64xf16", blocks) + ", %d: " + tensor("64x64xf16", kMma) +
            ", %e: " + tensor("256x16xf16", kMma));
  const auto rows = [&](std::size_t argument) {
    const auto arguments = ir::function_arguments(laid.program, ir::functions(laid.program)[0]);
    return in_rows(laid.builder.types(), ir::type_of(laid.program, arguments[argument]));
  };
  ASSERT_NE(rows(0), nullptr);
  EXPECT_EQ(rows(0)->text,
            "#ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 32], [8, 0], [128, 0]], lane = "
            "[[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0], [64, 0]], block "
            "= []}>");
  EXPECT_EQ(scratch_in_warps(laid.layout(0), rows(0)), 4096);
  ASSERT_NE(rows(1), nullptr);
  EXPECT_EQ(rows(1)->text,
            "#ttg.linear<{register = [[0, 1], [0, 2], [0, 16], [0, 32], [8, 0]], lane = [[0, 4], "
            "[0, 8], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = []}>");
  EXPECT_EQ(scratch_in_warps(laid.layout(1), rows(1)), 2048);
  EXPECT_EQ(rows(2), nullptr) << "no product";
  EXPECT_EQ(rows(3), nullptr) << "fewer rows than the warps have";
  EXPECT_EQ(rows(4), nullptr) << "too narrow";
  EXPECT_FALSE(scratch_in_warps(laid.layout(0), laid.layout(2)));
}

// Instructions of other columns and depth leave each element in the same thread; other warps do
// not.
TEST(RegisterLayouts, AlikeProductsChangeWithoutMemory) {
  const auto product = [](const char* warps, const char* shape) {
    return std::string("#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [") +
           warps + ", 1], instrShape = [16, " + shape + "]}>";
  };
  const auto sliced = [](const char* dimension, const std::string& parent) {
    return std::string("#ttg.slice<{dim = ") + dimension + ", parent = " + parent + "}>";
  };
  const std::string whole = product("4", "128, 32"), half = product("4", "64, 16");
  Laid laid("%a: " + tensor("64x128xf32", whole) + ", %b: " + tensor("64x128xf32", half) +
            ", %c: " + tensor("64x128xf32", product("8", "64, 16")) + ", %d: " +
            tensor("64xf32", sliced("1", whole)) + ", %e: " + tensor("64xf32", sliced("1", half)) +
            ", %f: " + tensor("64xf32", sliced("0", half)));
  EXPECT_EQ(scratch_in_warps(laid.layout(0), laid.layout(1)), 0);
  EXPECT_FALSE(scratch_in_warps(laid.layout(0), laid.layout(2)));
  EXPECT_EQ(scratch_in_warps(laid.layout(3), laid.layout(4)), 0);
  EXPECT_FALSE(scratch_in_warps(laid.layout(3), laid.layout(5)));
}

TEST(RegisterLayouts, WhatHasNoPieceSaysWhy) {
  Laid laid("%a: " +
            tensor("2x64x64xf32",
                   "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [1, 8, 1], "
                   "instrShape = [16, 64, 16]}>"));
  EXPECT_EQ(laid.piece(0, {{2, 64, 64}, {}, 4}), "! is of a product of more than two dimensions");
}

/// Made layouts must be the same nodes as those of a text: types are compared by pointer.
TEST(RegisterLayouts, MadeSlicesAreThoseOfTheText) {
  Laid laid("%a: " + tensor("128x256xf32", kMma) + ", %b: " +
            tensor("128xf32", std::string("#ttg.slice<{dim = 1, parent = ") + kMma + "}>"));
  EXPECT_EQ(sliced(laid.builder.types(), 1, laid.layout(0)), laid.layout(1));
  const auto same = for_piece(laid.builder.types(), laid.layout(1), {{128}, {}, 8});
  ASSERT_TRUE(same);
  EXPECT_EQ(*same, laid.layout(1));
  EXPECT_EQ(slice_of(laid.layout(1))->parent, laid.layout(0));
  EXPECT_FALSE(slice_of(laid.layout(0)));
}

}  // namespace
}  // namespace twill::dialect
