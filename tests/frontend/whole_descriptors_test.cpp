#include "twill/frontend/ttgir/whole_descriptors.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "twill/frontend/ttgir/read.h"
#include "twill/ir/operands.h"

/// Protects: a tensor map that a module writes is read as its original descriptor, with extents and
/// strides outermost first. A map with another reader stays.
namespace twill::frontend::ttgir {
namespace {

std::string module_text(const std::string& more) {
  return R"(#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: !tt.ptr<f16>, %rows: i32, %columns: i32, %stride: i64) {
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %c128 = arith.constant 128 : i32
    %c2_i64 = arith.constant 2 : i64
    %bytes = arith.muli %stride, %c2_i64 : i64
    %map = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    ttng.tensormap_create %map, %x, [%c64, %c128], [%columns, %rows], [%bytes], [%c1, %c1] {elem_type = 6 : i32, fill_mode = 1 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
    ttng.tensormap_fenceproxy_acquire %map : !tt.ptr<i8>
    %desc = ttng.reinterpret_tensor_descriptor %map : !tt.ptr<i8> to !tt.tensordesc<tensor<128x64xf16, #shared>>
)" + more +
         R"(
    tt.return
  }
}
)";
}

std::vector<std::string> names_of(const ir::Program& program, std::span<const ir::ValueId> values) {
  std::vector<std::string> names;
  for (const ir::ValueId value : values) names.push_back(program.value(value).name);
  return names;
}

TEST(WholeDescriptors, MapsBecomeWhatTheyWereMadeOf) {
  const auto text = read_ttgir(module_text(""), "k.ttgir");
  ASSERT_TRUE(text) << to_string(text.error());
  const auto whole = whole_descriptors(*text);
  ASSERT_TRUE(whole);
  std::size_t found = 0;
  for (const ir::OpId id : ir::walk(*whole, whole->module())) {
    const ir::Op& op = whole->op(id);
    EXPECT_NE(op.kind, ir::OpKind::unmodelled) << op.name;
    if (op.kind != ir::OpKind::make_descriptor) continue;
    ++found;
    EXPECT_EQ(whole->value(*ir::operand_in(op, ir::Role::base)).name, "x");
    EXPECT_EQ(names_of(*whole, ir::operands_in(op, ir::Role::extents)),
              (std::vector<std::string>{"rows", "columns"}));
    const auto strides = ir::operands_in(op, ir::Role::strides);
    ASSERT_EQ(strides.size(), 2U);
    EXPECT_EQ(whole->value(strides[0]).name, "stride");
    EXPECT_EQ(ir::constant_integer(*whole, strides[1]), 1);
    EXPECT_TRUE(op.pads_with_nan);
  }
  EXPECT_EQ(found, 1U);
}

// For a kernel with one known length of rows, Triton computes the bytes as a constant.
TEST(WholeDescriptors, BytesMayBeAConstant) {
  const std::string text = module_text("");
  const std::string computed = "arith.muli %stride, %c2_i64 : i64";
  for (const auto& [bytes, elements] : {std::pair("192", 96), std::pair("193", 0)}) {
    std::string constant = text;
    constant.replace(text.find(computed), computed.size(),
                     std::string("arith.constant ") + bytes + " : i64");
    const auto read = read_ttgir(constant, "k.ttgir");
    ASSERT_TRUE(read) << to_string(read.error());
    const auto whole = whole_descriptors(*read);
    ASSERT_EQ(whole.has_value(), elements > 0) << bytes;
    if (!whole) continue;
    for (const ir::OpId id : ir::walk(*whole, whole->module())) {
      const ir::Op& op = whole->op(id);
      if (op.kind != ir::OpKind::make_descriptor) continue;
      const auto strides = ir::operands_in(op, ir::Role::strides);
      ASSERT_EQ(strides.size(), 2U);
      EXPECT_EQ(ir::constant_integer(*whole, strides[0]), elements);
      EXPECT_EQ(ir::constant_integer(*whole, strides[1]), 1);
    }
  }
}

TEST(WholeDescriptors, MemoryThatOthersReadStays) {
  const auto text = read_ttgir(module_text("    %byte = tt.load %map : !tt.ptr<i8>"), "k.ttgir");
  ASSERT_TRUE(text) << to_string(text.error());
  EXPECT_FALSE(whole_descriptors(*text));
}

TEST(WholeDescriptors, MapsOfAnotherTypeStay) {
  std::string text = module_text("");
  text.replace(text.find("elem_type = 6"), 13, "elem_type = 9");
  const auto read = read_ttgir(text, "k.ttgir");
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_FALSE(whole_descriptors(*read));
}

}  // namespace
}  // namespace twill::frontend::ttgir
