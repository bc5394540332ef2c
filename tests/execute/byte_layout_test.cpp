// Bytes of elements in the layouts of TMA, wgmma and tcgen05, checked against Triton's layouts.
#include "twill/execute/byte_layout.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "twill/frontend/ttgir/read.h"

namespace twill::tests {
namespace {

std::string module_with(const std::string& type) {
  const bool tensor = type.find("#tmem") != std::string::npos;
  return R"(
#row = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#col = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#half = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#quarter = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#flat = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16}>
#deep = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, rank = 3}>
#byte = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>
#float = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#phases = #ttg.swizzled_shared<{vec = 4, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#turned = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 1]}>
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#tmem64 = #ttng.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 1>
#tmemu = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 2>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @k() {
    %a = )" +
         std::string(tensor ? "ttng.tmem_alloc" : "ttg.local_alloc") + " : () -> !ttg.memdesc<" +
         type + (tensor ? ", #ttng.tensor_memory, mutable>" : ", #smem, mutable>") + R"(
    tt.return
  }
}
)";
}

execute::ByteLayout placed(const std::string& type) {
  const auto program = frontend::read_ttgir(module_with(type), "k.ttgir");
  if (!program) throw std::runtime_error(to_string(program.error()));
  for (const ir::OpId op : ir::walk(*program, program->module())) {
    const auto& results = program->op(op).results;
    if (results.empty()) continue;
    auto found = execute::byte_layout_of(ir::type_of(*program, results[0]), 0);
    if (!found) throw std::runtime_error("not known: " + type);
    found->type = nullptr;  // the type ends with its program
    return *found;
  }
  throw std::runtime_error("no buffer");
}

std::int64_t byte_of(const execute::ByteLayout& layout, const std::vector<std::int64_t>& shape,
                     const std::vector<std::int64_t>& index) {
  std::int64_t element = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) element = element * shape[d] + index[d];
  return layout.at[static_cast<std::size_t>(element)];
}

using Shape = std::vector<std::int64_t>;

TEST(ByteLayout, shared_memory_as_triton_lays_it_out) {
  struct Case {
    std::string type;
    Shape shape;
    std::int64_t width;
    std::vector<Shape> bases;  ///< elements at byte width, 2 width, 4 width, ...
  };
  const std::vector<Case> cases = {
      {"128x128xf16, #row",
       {128, 128},
       2,
       {{0, 1},
        {0, 2},
        {0, 4},
        {0, 8},
        {0, 16},
        {0, 32},
        {1, 8},
        {2, 16},
        {4, 32},
        {8, 0},
        {16, 0},
        {32, 0},
        {64, 0},
        {0, 64}}},
      {"64x64xf16, #half",
       {64, 64},
       2,
       {{0, 1},
        {0, 2},
        {0, 4},
        {0, 8},
        {0, 16},
        {1, 0},
        {2, 8},
        {4, 16},
        {8, 0},
        {16, 0},
        {32, 0},
        {0, 32}}},
      {"64x32xf16, #quarter",
       {64, 32},
       2,
       {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {1, 0}, {2, 0}, {4, 8}, {8, 0}, {16, 0}, {32, 0}, {0, 16}}},
      {"64x32xf16, #flat",
       {64, 32},
       2,
       {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}, {32, 0}}},
      {"64x128xf16, #col",
       {64, 128},
       2,
       {{1, 0},
        {2, 0},
        {4, 0},
        {8, 0},
        {16, 0},
        {32, 0},
        {8, 1},
        {16, 2},
        {32, 4},
        {0, 8},
        {0, 16},
        {0, 32},
        {0, 64}}},
      {"64x64xf32, #float",
       {64, 64},
       4,
       {{0, 1},
        {0, 2},
        {0, 4},
        {0, 8},
        {0, 16},
        {1, 4},
        {2, 8},
        {4, 16},
        {8, 0},
        {16, 0},
        {32, 0},
        {0, 32}}},
      {"64x128xi8, #byte",
       {64, 128},
       1,
       {{0, 1},
        {0, 2},
        {0, 4},
        {0, 8},
        {0, 16},
        {0, 32},
        {0, 64},
        {1, 16},
        {2, 32},
        {4, 64},
        {8, 0},
        {16, 0},
        {32, 0}}},
      {"2x64x128xf16, #deep",
       {2, 64, 128},
       2,
       {{0, 0, 1},
        {0, 0, 2},
        {0, 0, 4},
        {0, 0, 8},
        {0, 0, 16},
        {0, 0, 32},
        {0, 1, 8},
        {0, 2, 16},
        {0, 4, 32},
        {0, 8, 0},
        {0, 16, 0},
        {0, 32, 0},
        {1, 0, 0},
        {0, 0, 64}}},
      {"2x64x128xf16, #row",
       {2, 64, 128},
       2,
       {{0, 0, 1},
        {0, 0, 2},
        {0, 0, 4},
        {0, 0, 8},
        {0, 0, 16},
        {0, 0, 32},
        {0, 1, 8},
        {0, 2, 16},
        {0, 4, 32},
        {0, 8, 0},
        {0, 16, 0},
        {0, 32, 0},
        {0, 0, 64},
        {1, 0, 0}}},
      {"64x32xf16, #phases",
       {64, 32},
       2,
       {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {1, 0}, {2, 4}, {4, 8}, {8, 0}, {16, 0}, {32, 0}}},
      {"64x64xf16, #turned",
       {64, 64},
       2,
       {{1, 0},
        {2, 0},
        {4, 0},
        {8, 0},
        {16, 0},
        {32, 0},
        {8, 1},
        {16, 2},
        {32, 4},
        {0, 8},
        {0, 16},
        {0, 32}}},
  };
  for (const Case& it : cases) {
    const execute::ByteLayout layout = placed(it.type);
    EXPECT_EQ(layout.width, it.width);
    std::int64_t byte = it.width;
    for (const Shape& base : it.bases) {
      EXPECT_EQ(byte_of(layout, it.shape, base), byte) << it.type;
      byte *= 2;
    }
  }
}

// Counts words of 32 bits: 128 lanes of a column, then the next column.
TEST(ByteLayout, tensor_memory_as_triton_lays_it_out) {
  struct Case {
    std::string type;
    Shape shape;
    std::vector<Shape> lanes;    ///< elements in lane 1, 2, 4, ...; empty: none
    std::vector<Shape> columns;  ///< elements at that many widths along
    std::int64_t width;
  };
  const std::vector<Case> cases = {
      {"256x128xf32, #tmem",
       {256, 128},
       {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}, {32, 0}, {64, 0}},
       {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {0, 32}, {128, 0}, {0, 64}},
       4},
      {"64x128xf32, #tmem64",
       {64, 128},
       {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {0, 64}, {16, 0}, {32, 0}},
       {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {0, 32}},
       4},
      {"128x128xf32, #tmem64",
       {128, 128},
       {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {64, 0}, {16, 0}, {32, 0}},
       {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {0, 32}, {0, 64}},
       4},
      {"128x64xf16, #tmemu",
       {128, 64},
       {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}, {32, 0}, {64, 0}},
       {{}, {0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {0, 32}},
       2},
      {"128x64xf16, #tmem",
       {128, 64},
       {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}, {32, 0}, {64, 0}},
       {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {0, 32}},
       2},
  };
  for (const Case& it : cases) {
    const execute::ByteLayout layout = placed(it.type);
    std::int64_t lane = 1;
    for (const Shape& base : it.lanes) {
      EXPECT_EQ(byte_of(layout, it.shape, base), lane * 4) << it.type;
      lane *= 2;
    }
    std::int64_t column = it.width;
    for (const Shape& base : it.columns) {
      if (!base.empty()) {
        EXPECT_EQ(byte_of(layout, it.shape, base), column / 4 * 512 + column % 4) << it.type;
      }
      column *= 2;
    }
  }
}

}  // namespace
}  // namespace twill::tests
