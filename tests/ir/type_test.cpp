#include "twill/ir/type.h"

#include <gtest/gtest.h>

#include "twill/ir/builder.h"
#include "twill/ir/encoding.h"

namespace twill::ir {
namespace {

// Equal types must be one node: every comparison in Twill relies on it.
TEST(TypeTable, interns_equal_types) {
  TypeTable types;
  const Type f16 = types.scalar("f16");
  EXPECT_EQ(types.tensor({128, 64}, f16), types.tensor({128, 64}, types.scalar("f16")));
  EXPECT_NE(types.tensor({128, 64}, f16), types.tensor({64, 128}, f16));
  EXPECT_NE(types.integer(1, types.scalar("i32")), types.integer(1, types.scalar("i64")));
}

// Widths decide bytes and thereby every cost and footprint.
TEST(TypeTable, knows_the_width_of_scalars) {
  TypeTable types;
  for (const auto& [name, bits] : {std::pair{"i1", 1},
                                   {"ui8", 8},
                                   {"index", 64},
                                   {"bf16", 16},
                                   {"tf32", 32},
                                   {"f8E4M3FN", 8},
                                   {"f8E5M2", 8},
                                   {"f6E3M2FN", 6},
                                   {"f4E2M1FN", 4}}) {
    const Type type = types.scalar(name);
    ASSERT_NE(type, nullptr) << name;
    EXPECT_EQ(type->bits, bits) << name;
  }
  for (const char* name : {"i0", "i", "i-3", "i99999999999", "f17", "f8", "f8E", "bf17", "x"}) {
    EXPECT_EQ(types.scalar(name), nullptr) << name;
  }
}

// Bytes round up per tile, and an impossibly large extent must not overflow.
TEST(Type, byte_size) {
  TypeTable types;
  EXPECT_EQ(byte_size(types.tensor({128, 64}, types.scalar("f16"))), 16384);
  EXPECT_EQ(byte_size(types.tensor({3}, types.scalar("i1"))), 1);
  EXPECT_EQ(byte_size(types.tensor({}, types.scalar("f32"))), 4);
  EXPECT_EQ(byte_size(types.tensor({2}, types.pointer(types.scalar("f16"), "ptr"))), 16);
  EXPECT_EQ(byte_size(types.tensor({-1, 4}, types.scalar("f32"))), 0);
  EXPECT_EQ(byte_size(types.tensor({1LL << 40, 1LL << 40}, types.scalar("f32"))), 0);
  EXPECT_EQ(byte_size(types.token("token")), 0);
}

// Printed keys and strings read back as the same.
TEST(Attribute, text_quotes_what_needs_it) {
  TypeTable types;
  const Attribute dictionary = types.dictionary(
      {{"tt.a", types.integer(1, types.scalar("i32"))}, {"ttg.num-warps", types.unit()}});
  EXPECT_EQ(dictionary->text, "{tt.a = 1 : i32, \"ttg.num-warps\"}");
  EXPECT_EQ(types.string("a\"b\\\n\x7f")->text, "\"a\\\"b\\\\\\0A\\7F\"");
}

Type tensor_memory(TypeTable& types, std::vector<std::int64_t> shape, const char* element,
                   int block_m, int block_n) {
  TypeNode parts;
  parts.shape = std::move(shape);
  parts.element = types.scalar(element);
  parts.space = MemorySpace::tensor;
  parts.encoding = types.dialect("blocks", std::to_string(block_m) + "x" + std::to_string(block_n),
                                 TensorMemoryEncoding{block_m, block_n});
  return types.memdesc(std::move(parts), "buffer");
}

// Rows are contiguous, unless the layout says otherwise.
TEST(Encoding, fastest_dimension) {
  TypeTable types;
  const auto lying = [&](const Encoding& encoding, const char* name) {
    TypeNode parts;
    parts.shape = {64, 128};
    parts.element = types.scalar("f16");
    parts.space = MemorySpace::shared;
    parts.encoding = types.dialect("lies", name, encoding);
    return fastest_dimension(types.memdesc(std::move(parts), "buffer"));
  };
  EXPECT_EQ(lying(NvmmaSharedEncoding{128, false, 16, false}, "rows"), 1U);
  EXPECT_EQ(lying(NvmmaSharedEncoding{128, true, 16, false}, "columns"), 0U);
  EXPECT_EQ(lying(SwizzledSharedEncoding{8, 1, 8, {0, 1}}, "by columns"), 0U);
  EXPECT_EQ(lying(SwizzledSharedEncoding{8, 1, 8, {}}, "unknown"), std::nullopt);
  EXPECT_EQ(fastest_dimension(types.scalar("f32")), std::nullopt);
}

// Columns as hardware allocates them: 128 lanes of 32 bits; 64 rows alone still take whole columns.
TEST(Encoding, tensor_memory_columns) {
  TypeTable types;
  EXPECT_EQ(tensor_memory_columns(tensor_memory(types, {128, 128}, "f32", 128, 128)), 128);
  EXPECT_EQ(tensor_memory_columns(tensor_memory(types, {128, 128}, "f16", 128, 128)), 64);
  EXPECT_EQ(tensor_memory_columns(tensor_memory(types, {256, 128}, "f32", 128, 128)), 256);
  EXPECT_EQ(tensor_memory_columns(tensor_memory(types, {64, 128}, "f32", 64, 128)), 128);
  EXPECT_EQ(tensor_memory_columns(tensor_memory(types, {2, 128, 64}, "f32", 128, 64)), 128);
  EXPECT_EQ(tensor_memory_columns(types.scalar("f32")), 0);
  EXPECT_EQ(tensor_memory_lanes(tensor_memory(types, {64, 128}, "f32", 64, 128)), 64);
  EXPECT_EQ(tensor_memory_lanes(tensor_memory(types, {128, 128}, "f32", 64, 128)), 128);
  EXPECT_EQ(tensor_memory_lanes(tensor_memory(types, {128, 128}, "f32", 128, 128)), 128);
}

// A Program can be built without a text and without a front end.
TEST(ProgramBuilder, makes_what_it_is_told) {
  ProgramBuilder builder("built");
  Op module;
  module.kind = OpKind::module;
  const OpId top = builder.add_op(module);
  const Type i32 = builder.types().scalar("i32");
  Op constant;
  constant.kind = OpKind::constant;
  constant.constant = builder.types().integer(7, i32);
  constant.block = builder.add_block(builder.add_region(top));
  const OpId made = builder.add_op(constant);
  builder.define_result(made, builder.add_value("c7", i32));
  const Program program = std::move(builder).finish();
  EXPECT_EQ(constant_integer(program, program.op(made).results[0]), 7);
}

}  // namespace
}  // namespace twill::ir
