#include "twill/ir/operands.h"

#include <gtest/gtest.h>

#include "twill/frontend/ttgir/read.h"
#include "twill/frontend/ttgir/spelling.h"

namespace twill::ir {
namespace {

/// The first op of a kind in a function around `body`, with the values that the bodies below need.
struct Found {
  Program program;
  const Op* op = nullptr;
  OpId id;

  std::string name(std::optional<ValueId> value) const {
    return value ? program.value(*value).name : "-";
  }
};

Found find(OpKind kind, std::string_view body) {
  const std::string text = R"(
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
!a = !ttg.memdesc<128x128xf16, #s, #smem>
!d = !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>
#b = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
!bar = !ttg.memdesc<1xi64, #b, #smem, mutable>
tt.func @f(%a: !a, %b: !a, %d: !d, %tok: !ttg.async.token, %t: i1, %bar: !bar, %p: tensor<16x!tt.ptr<f16>>,
           %m: tensor<16xi1>, %v: tensor<16xf16>, %x: tensor<128x128xf32>, %c: i32,
           %desc: !tt.tensordesc<tensor<128x128xf16, #s>>, %h: tensor<128x128xf16>) {
)" + std::string(body) + "\n  tt.return\n}\n";
  Found found;
  auto program = frontend::read_ttgir(text, "test.ttgir");
  if (!program) {
    ADD_FAILURE() << to_string(program.error());
    return found;
  }
  found.program = *std::move(program);
  for (const OpId id : walk(found.program, found.program.module())) {
    if (found.program.op(id).kind != kind || found.op != nullptr) continue;
    found.op = &found.program.op(id);
    found.id = id;
  }
  if (found.op == nullptr) ADD_FAILURE() << "no such op";
  return found;
}

// The plan needs every part of a tcgen05 product; custom and generic spelling must agree.
TEST(MmaOperands, tensor_memory_product) {
  for (const char* body :
       {"%r = ttng.tc_gen5_mma %a, %b, %d[%tok], %t, %t, %bar[%t] {is_async} : !a, !a, !d, !bar",
        "%r = \"ttng.tc_gen5_mma\"(%a, %b, %d, %tok, %t, %t, %bar, %t) <{is_async, "
        "operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1>}> : (!a, !a, !d, "
        "!ttg.async.token, i1, i1, !bar, i1) -> !ttg.async.token"}) {
    const Found found = find(OpKind::tcgen05, body);
    const auto mma = mma_operands(*found.op);
    ASSERT_TRUE(mma) << body;
    EXPECT_EQ(found.name(mma->a), "a");
    EXPECT_EQ(found.name(mma->accumulator), "d");
    EXPECT_EQ(found.name(mma->token_in), "tok");
    EXPECT_EQ(found.name(mma->token_out), "r");
    EXPECT_EQ(found.name(mma->use_accumulator), "t");
    EXPECT_EQ(found.name(mma->predicate), "t");
    ASSERT_EQ(mma->barriers.size(), 1U);
    EXPECT_EQ(found.name(mma->barriers[0]), "bar");
    EXPECT_EQ(mma->barrier_predicates.size(), 1U);
    EXPECT_TRUE(mma->asynchronous);
    EXPECT_FALSE(mma->two_ctas);
    EXPECT_FALSE(mma->result);
  }
}

// Three spellings of the accumulator's token, all printed by MLIR.
TEST(MmaOperands, tokens_are_optional) {
  const Found none = find(OpKind::tcgen05, "ttng.tc_gen5_mma %a, %b, %d, %t, %t : !a, !a, !d");
  EXPECT_FALSE(mma_operands(*none.op)->token_in);
  EXPECT_FALSE(mma_operands(*none.op)->token_out);
  const Found out =
      find(OpKind::tcgen05, "%r = ttng.tc_gen5_mma %a, %b, %d[], %t, %t : !a, !a, !d");
  EXPECT_FALSE(mma_operands(*out.op)->token_in);
  EXPECT_EQ(out.name(mma_operands(*out.op)->token_out), "r");
}

TEST(MmaOperands, warp_group_product) {
  const Found found =
      find(OpKind::wgmma,
           "%r = ttng.warp_group_dot %a, %b, %x, %t {inputPrecision = 0 : i32, isAsync = true}"
           " : !a * !a -> tensor<128x128xf32>");
  const auto mma = mma_operands(*found.op);
  ASSERT_TRUE(mma);
  EXPECT_EQ(found.name(mma->accumulator), "x");
  EXPECT_EQ(found.name(mma->result), "r");
  EXPECT_EQ(found.name(mma->use_accumulator), "t");
  EXPECT_TRUE(mma->asynchronous);
}

// A dropped or mistaken mask would give wrong results in the executor.
TEST(MemoryAccess, masked_load_and_store) {
  const Found load =
      find(OpKind::load,
           "%r = tt.load %p, %m, %v evictionPolicy = evict_last : tensor<16x!tt.ptr<f16>>");
  auto access = memory_access(*load.op);
  ASSERT_TRUE(access);
  EXPECT_EQ(load.name(access->address), "p");
  EXPECT_EQ(load.name(access->mask), "m");
  EXPECT_EQ(load.name(access->other), "v");
  EXPECT_EQ(load.name(access->result), "r");
  EXPECT_EQ(type_of(load.program, *access->result)->text, "tensor<16xf16>");
  EXPECT_EQ(frontend::ttgir::integer_attribute(*load.op, "evict"), 3);
  const Found store = find(OpKind::store, "tt.store %p, %v, %m : tensor<16x!tt.ptr<f16>>");
  access = memory_access(*store.op);
  EXPECT_EQ(store.name(access->source), "v");
  EXPECT_EQ(store.name(access->mask), "m");
  EXPECT_TRUE(access->writes);
  EXPECT_FALSE(access->reads);
}

// Custom forms write the tile last, generic forms second: both must be found.
TEST(MemoryAccess, descriptors) {
  const Found store =
      find(OpKind::block_store,
           "tt.descriptor_store %desc[%c, %c], %h : !tt.tensordesc<tensor<128x128xf16, #s>>, "
           "tensor<128x128xf16>");
  const auto access = memory_access(*store.op);
  ASSERT_TRUE(access);
  EXPECT_EQ(store.name(access->address), "desc");
  EXPECT_EQ(store.name(access->source), "h");
  EXPECT_EQ(access->coordinates.size(), 2U);
  EXPECT_TRUE(access->by_descriptor);
  const Found reduce =
      find(OpKind::block_update,
           "tt.descriptor_reduce add, %desc[%c, %c], %h : !tt.tensordesc<tensor<128x128xf16, "
           "#s>>, tensor<128x128xf16>");
  EXPECT_EQ(reduce.op->update, Update::fadd);
  EXPECT_EQ(reduce.name(memory_access(*reduce.op)->source), "h");
}

TEST(MemoryAccess, tensor_memory) {
  const Found load =
      find(OpKind::tensor_load, "%r, %q = ttng.tmem_load %d[%tok] : !d -> tensor<128x128xf32>");
  auto access = memory_access(*load.op);
  EXPECT_EQ(access->space, AccessSpace::tensor);
  EXPECT_EQ(load.name(access->result), "r");
  EXPECT_EQ(load.name(access->token_in), "tok");
  EXPECT_EQ(load.name(access->token_out), "q");
  EXPECT_EQ(type_of(load.program, *access->token_out)->kind, TypeKind::token);
  const Found store = find(OpKind::tensor_store,
                           "%q = ttng.tmem_store %x, %d[%tok], %t : tensor<128x128xf32> -> !d");
  access = memory_access(*store.op);
  EXPECT_EQ(store.name(access->address), "d");
  EXPECT_EQ(store.name(access->source), "x");
  EXPECT_EQ(store.name(access->predicate), "t");
  EXPECT_EQ(store.name(access->token_out), "q");
  EXPECT_FALSE(access->result);
}

TEST(MemoryAccess, asynchronous_copy) {
  const Found copy = find(OpKind::block_load_async,
                          "ttng.async_tma_copy_global_to_local %desc[%c, %c] %a, %bar, %t : "
                          "!tt.tensordesc<tensor<128x128xf16, #s>>, !bar -> !a");
  const auto access = memory_access(*copy.op);
  ASSERT_TRUE(access);
  EXPECT_EQ(copy.name(access->destination), "a");
  EXPECT_EQ(copy.name(access->barrier), "bar");
  EXPECT_EQ(copy.name(access->predicate), "t");
  EXPECT_TRUE(access->asynchronous);
}

TEST(Reduction, axis_and_region) {
  const Found found = find(OpKind::reduce, R"(%r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%i: f32, %j: f32):
      %k = arith.maxnumf %i, %j : f32
      tt.reduce.return %k : f32
    }) : (tensor<128x128xf32>) -> tensor<128xf32>)");
  const auto reduced = reduction(found.program, found.id);
  ASSERT_TRUE(reduced);
  EXPECT_EQ(reduced->axis, 1);
  EXPECT_EQ(reduced->sources.size(), 1U);
  EXPECT_EQ(found.program.block(reduced->combine).arguments.size(), 2U);
  EXPECT_FALSE(reduced->is_scan);
}

}  // namespace
}  // namespace twill::ir
