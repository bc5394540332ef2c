// Kernels as printed by Tritons other than 3.6. Written by hand after the output of Triton 3.1, 3.3
// and 3.7 for a matrix product.
#include <gtest/gtest.h>

#include "frontend/same_program.h"
#include "twill/frontend/ttgir/read.h"
#include "twill/frontend/ttgir/spelling.h"
#include "twill/frontend/ttgir/text.h"
#include "twill/ir/encoding.h"
#include "twill/ir/loop.h"
#include "twill/ir/operands.h"

namespace twill::tests {
namespace {

ir::Program read_old(std::string_view text) {
  auto program = frontend::read_ttgir(text, "test.ttgir");
  if (!program) {
    ADD_FAILURE() << to_string(program.error());
    return *frontend::read_ttgir("module {}", "empty");
  }
  auto again = frontend::read_ttgir(frontend::ttgir::to_text(*program), "printed.ttgir");
  EXPECT_TRUE(again && content_of(*again) == content_of(*program));
  return *std::move(program);
}

// Before 3.2 the dialects were spelled out, and descriptors were experimental.
TEST(OldSpellings, triton_gpu_dialects) {
  const ir::Program program = read_old(R"(
#mma = #triton_gpu.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], CTAsPerCGA = [1, 1], instrShape = [16, 64, 16]}>
#shared = #triton_gpu.shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0], hasLeadingOffset = true}>
module attributes {"triton_gpu.num-ctas" = 1 : i32, "triton_gpu.num-warps" = 4 : i32, triton_gpu.target = "cuda:90", "triton_gpu.threads-per-warp" = 32 : i32} {
  tt.func public @gemm(%desc: !tt.ptr<i8>, %p: tensor<64x64x!tt.ptr<f16>>, %n: i32) attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %r = scf.for %k = %c0 to %n step %n iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>)  : i32 {
      %a = tt.experimental_descriptor_load %desc[%k, %c0] : !tt.ptr<i8> -> tensor<64x64xf16>
      %b = tt.load %p {cache = 1 : i32, evict = 1 : i32, isVolatile = false} : tensor<64x64xf16>
      %sa = triton_gpu.local_alloc %a : (tensor<64x64xf16>) -> !tt.memdesc<64x64xf16, #shared, #triton_gpu.shared_memory>
      %sb = triton_gpu.local_alloc %b : (tensor<64x64xf16>) -> !tt.memdesc<64x64xf16, #shared, #triton_gpu.shared_memory, mutable>
      %d = triton_nvidia_gpu.warp_group_dot %sa, %sb, %acc {inputPrecision = 0 : i32, isAsync = true} : !tt.memdesc<64x64xf16, #shared, #triton_gpu.shared_memory> * !tt.memdesc<64x64xf16, #shared, #triton_gpu.shared_memory, mutable> -> tensor<64x64xf32, #mma>
      %w:2 = triton_nvidia_gpu.warp_group_dot_wait %d, %sa {pendings = 0 : i32} : tensor<64x64xf32, #mma>, !tt.memdesc<64x64xf16, #shared, #triton_gpu.shared_memory>
      %t = triton_gpu.async_copy_global_to_local %p, %sb : tensor<64x64x!tt.ptr<f16>> -> <64x64xf16, #shared, #triton_gpu.shared_memory, mutable>
      %g = triton_gpu.async_commit_group %t
      scf.yield %w#0 : tensor<64x64xf32, #mma>
    }
    tt.return
  }
}
)");
  EXPECT_EQ(ir::launch_traits(program).num_ctas, 1);
  EXPECT_EQ(ir::launch_traits(program).cuda_target, 90);
  const auto loops = ir::loops(program, program.module());
  ASSERT_EQ(loops.size(), 1U);
  std::size_t products = 0;
  std::size_t loads = 0;
  for (const ir::OpId id : ir::walk(program, loops[0].op)) {
    const ir::Op& op = program.op(id);
    if (const auto mma = ir::mma_operands(op)) {
      ++products;
      EXPECT_TRUE(mma->asynchronous);
      const auto layout = ir::mma_encoding(ir::type_of(program, *mma->result)->encoding);
      EXPECT_EQ(layout->version_major, 3);
      const auto shared = ir::swizzled_shared_encoding(ir::type_of(program, mma->a)->encoding);
      EXPECT_EQ(shared->max_phase, 8);
      EXPECT_TRUE(ir::is_memdesc(ir::type_of(program, mma->b), ir::MemorySpace::shared));
    }
    if (op.kind == ir::OpKind::block_load || op.kind == ir::OpKind::load) ++loads;
    for (const ir::ValueId result : op.results) {
      EXPECT_NE(ir::type_of(program, result)->text, "!twill.unknown") << op.name;
    }
  }
  EXPECT_EQ(products, 1U);
  EXPECT_EQ(loads, 2U);
}

// Triton 3.3 had one barrier after the predicate, no predicate for the barrier, and functional
// types.
TEST(OldSpellings, tensor_core_product_of_3_3) {
  const ir::Program program = read_old(R"(
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, unpacked = true>
!a = !ttg.memdesc<128x64xf16, #ttg.shared_memory>
!b = !ttg.memdesc<64x128xf16, #ttg.shared_memory>
!d = !ttg.memdesc<128x128xf32, #t, #ttng.tensor_memory, mutable>
!bar = !ttg.memdesc<1xi64, #ttg.shared_memory, mutable>
tt.func @f(%a: !a, %b: !b, %d: !d, %t: i1, %bar: !bar) {
  ttng.tc_gen5_mma %a, %b, %d, %t, %t, %bar : (!a, !b, !d, i1, i1, !bar) -> ()
  tt.return
}
)");
  for (const ir::OpId id : ir::walk(program, program.module())) {
    const auto mma = ir::mma_operands(program.op(id));
    if (!mma) continue;
    EXPECT_EQ(program.value(mma->accumulator).name, "d");
    ASSERT_EQ(mma->barriers.size(), 1U);
    EXPECT_TRUE(mma->barrier_predicates.empty());
    EXPECT_EQ(ir::tensor_memory_columns(ir::type_of(program, mma->accumulator)), 128);
    return;
  }
  ADD_FAILURE() << "no product";
}

// A later Triton may write a known op in an unknown form: the op stays in the Program as text.
TEST(NewSpellings, a_changed_form_is_kept) {
  const ir::Program program = read_old(R"(
tt.func @f(%p: tensor<4x!tt.ptr<f32>>, %m: tensor<4xi1>) {
  %0 = tt.load %p where %m unless cached : tensor<4x!tt.ptr<f32>>
  tt.return
}
)");
  for (const ir::OpId id : ir::walk(program, program.module())) {
    if (program.op(id).kind != ir::OpKind::load) continue;
    EXPECT_EQ(program.op(id).form, "% where % unless cached");
    EXPECT_EQ(ir::type_of(program, program.op(id).results[0])->text, "tensor<4xf32>");
  }
}

// Twill does not depend on one Triton: renamed dialects and ops are read as today's ops.
TEST(OldSpellings, are_the_same_tile_operations) {
  EXPECT_EQ(frontend::ttgir::kind_of("triton_gpu.local_alloc"), ir::OpKind::shared_alloc);
  EXPECT_EQ(frontend::ttgir::kind_of("triton_nvidia_gpu.warp_group_dot"), ir::OpKind::wgmma);
  EXPECT_EQ(frontend::ttgir::kind_of("tt.experimental_descriptor_load"), ir::OpKind::block_load);
  EXPECT_EQ(frontend::ttgir::kind_of("tt.frobnicate"), ir::OpKind::other);
}

}  // namespace
}  // namespace twill::tests
