#pragma once

#include <stdexcept>
#include <string>

/// Small modules whose warps have roles, and the kernels that they come from.
namespace twill::tests {

/// `text` with its only `from` changed to `to`; all of several where `all` is set.
inline std::string replaced(std::string text, const std::string& from, const std::string& to,
                            bool all = false) {
  std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error("not in the module: " + from);
  if (!all && text.find(from, at + 1) != std::string::npos) {
    throw std::runtime_error("twice in the module: " + from);
  }
  for (; at != std::string::npos; at = all ? text.find(from, at + to.size()) : std::string::npos) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// The line, from 1, on which `part` stands first.
inline int line_with(const std::string& text, const std::string& part) {
  const std::size_t at = text.find(part);
  if (at == std::string::npos) throw std::runtime_error("not in the module: " + part);
  int line = 1;
  for (std::size_t i = 0; i < at; ++i) line += text[i] == '\n' ? 1 : 0;
  return line;
}

/// C = A B over n steps of 64, a tile of 64 x 64 for each CTA.
inline const std::string kPlain = R"(
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#l = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @gemm(%a: !tt.tensordesc<tensor<64x64xf16, #s>>, %b: !tt.tensordesc<tensor<64x64xf16, #s>>, %c: !tt.tensordesc<tensor<64x64xf16, #s>>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %pid = tt.get_program_id x : i32
    %row = arith.muli %pid, %c64 : i32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>)  : i32 {
      %k = arith.muli %i, %c64 : i32
      %at = tt.descriptor_load %a[%row, %k] : !tt.tensordesc<tensor<64x64xf16, #s>> -> tensor<64x64xf16, #l>
      %as = ttg.local_alloc %at : (tensor<64x64xf16, #l>) -> !ttg.memdesc<64x64xf16, #s, #smem>
      %bt = tt.descriptor_load %b[%k, %c0] : !tt.tensordesc<tensor<64x64xf16, #s>> -> tensor<64x64xf16, #l>
      %bs = ttg.local_alloc %bt : (tensor<64x64xf16, #l>) -> !ttg.memdesc<64x64xf16, #s, #smem>
      %d = ttng.warp_group_dot %as, %bs, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x64xf16, #s, #smem> * !ttg.memdesc<64x64xf16, #s, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    %h = arith.truncf %sum : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
    %t = ttg.convert_layout %h : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #l>
    tt.descriptor_store %c[%row, %c0], %t : !tt.tensordesc<tensor<64x64xf16, #s>>, tensor<64x64xf16, #l>
    tt.return
  }
}
)";

/// The same with two roles and a ring of two slots.
inline const std::string kRoles = R"(
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#b = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @gemm(%a: !tt.tensordesc<tensor<64x64xf16, #s>>, %b: !tt.tensordesc<tensor<64x64xf16, #s>>, %c: !tt.tensordesc<tensor<64x64xf16, #s>>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %as = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #s, #smem, mutable>
    %bs = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #s, #smem, mutable>
    %cs = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
    %full = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, #b, #smem, mutable>
    %empty = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, #b, #smem, mutable>
    %full0 = ttg.memdesc_index %full[%c0] : !ttg.memdesc<2x1xi64, #b, #smem, mutable> -> !ttg.memdesc<1xi64, #b, #smem, mutable>
    %full1 = ttg.memdesc_index %full[%c1] : !ttg.memdesc<2x1xi64, #b, #smem, mutable> -> !ttg.memdesc<1xi64, #b, #smem, mutable>
    %empty0 = ttg.memdesc_index %empty[%c0] : !ttg.memdesc<2x1xi64, #b, #smem, mutable> -> !ttg.memdesc<1xi64, #b, #smem, mutable>
    %empty1 = ttg.memdesc_index %empty[%c1] : !ttg.memdesc<2x1xi64, #b, #smem, mutable> -> !ttg.memdesc<1xi64, #b, #smem, mutable>
    ttng.init_barrier %full0, 1 : !ttg.memdesc<1xi64, #b, #smem, mutable>
    ttng.init_barrier %full1, 1 : !ttg.memdesc<1xi64, #b, #smem, mutable>
    ttng.init_barrier %empty0, 1 : !ttg.memdesc<1xi64, #b, #smem, mutable>
    ttng.init_barrier %empty1, 1 : !ttg.memdesc<1xi64, #b, #smem, mutable>
    ttg.warp_specialize(%a, %b, %as, %bs, %full, %empty, %n) attributes {requestedRegisters = array<i32: 24>}
    default {
      %true = arith.constant true
      %c2 = arith.constant 2 : i32
      %c64 = arith.constant 64 : i32
      %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
      %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>)  : i32 {
        %slot = arith.remsi %i, %c2 : i32
        %lap = arith.divsi %i, %c2 : i32
        %phase = arith.andi %lap, %c1 : i32
        %f = ttg.memdesc_index %full[%slot] : !ttg.memdesc<2x1xi64, #b, #smem, mutable> -> !ttg.memdesc<1xi64, #b, #smem, mutable>
        ttng.wait_barrier %f, %phase, %true : !ttg.memdesc<1xi64, #b, #smem, mutable>
        %at = ttg.memdesc_index %as[%slot] : !ttg.memdesc<2x64x64xf16, #s, #smem, mutable> -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
        %bt = ttg.memdesc_index %bs[%slot] : !ttg.memdesc<2x64x64xf16, #s, #smem, mutable> -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
        %d = ttng.warp_group_dot %at, %bt, %acc {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #s, #smem, mutable> * !ttg.memdesc<64x64xf16, #s, #smem, mutable> -> tensor<64x64xf32, #mma>
        %w = ttng.warp_group_dot_wait %d {pendings = 0 : i32} : tensor<64x64xf32, #mma>
        %e = ttg.memdesc_index %empty[%slot] : !ttg.memdesc<2x1xi64, #b, #smem, mutable> -> !ttg.memdesc<1xi64, #b, #smem, mutable>
        ttng.arrive_barrier %e, 1, %true : !ttg.memdesc<1xi64, #b, #smem, mutable>
        scf.yield %w : tensor<64x64xf32, #mma>
      }
      %pid = tt.get_program_id x : i32
      %row = arith.muli %pid, %c64 : i32
      %h = arith.truncf %sum : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      ttg.local_store %h, %cs : tensor<64x64xf16, #mma> -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
      ttng.fence_async_shared {bCluster = false}
      ttng.async_tma_copy_local_to_global %c[%row, %c0] %cs : !tt.tensordesc<tensor<64x64xf16, #s>>, !ttg.memdesc<64x64xf16, #s, #smem, mutable>
      ttng.async_tma_store_wait {pendings = 0 : i32}
      ttg.warp_yield
    }
    partition0(%pa: !tt.tensordesc<tensor<64x64xf16, #s>>, %pb: !tt.tensordesc<tensor<64x64xf16, #s>>, %pas: !ttg.memdesc<2x64x64xf16, #s, #smem, mutable>, %pbs: !ttg.memdesc<2x64x64xf16, #s, #smem, mutable>, %pfull: !ttg.memdesc<2x1xi64, #b, #smem, mutable>, %pempty: !ttg.memdesc<2x1xi64, #b, #smem, mutable>, %pn: i32) num_warps(1) {
      %ptrue = arith.constant true
      %p0 = arith.constant 0 : i32
      %p1 = arith.constant 1 : i32
      %p2 = arith.constant 2 : i32
      %p64 = arith.constant 64 : i32
      %ppid = tt.get_program_id x : i32
      %prow = arith.muli %ppid, %p64 : i32
      scf.for %i = %p0 to %pn step %p1  : i32 {
        %k = arith.muli %i, %p64 : i32
        %slot = arith.remsi %i, %p2 : i32
        %lap = arith.divsi %i, %p2 : i32
        %phase = arith.andi %lap, %p1 : i32
        %parity = arith.xori %phase, %p1 : i32
        %e = ttg.memdesc_index %pempty[%slot] : !ttg.memdesc<2x1xi64, #b, #smem, mutable> -> !ttg.memdesc<1xi64, #b, #smem, mutable>
        ttng.wait_barrier %e, %parity, %ptrue : !ttg.memdesc<1xi64, #b, #smem, mutable>
        %f = ttg.memdesc_index %pfull[%slot] : !ttg.memdesc<2x1xi64, #b, #smem, mutable> -> !ttg.memdesc<1xi64, #b, #smem, mutable>
        ttng.barrier_expect %f, 16384, %ptrue : !ttg.memdesc<1xi64, #b, #smem, mutable>
        %at = ttg.memdesc_index %pas[%slot] : !ttg.memdesc<2x64x64xf16, #s, #smem, mutable> -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
        ttng.async_tma_copy_global_to_local %pa[%prow, %k] %at, %f, %ptrue : !tt.tensordesc<tensor<64x64xf16, #s>>, !ttg.memdesc<1xi64, #b, #smem, mutable> -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
        %bt = ttg.memdesc_index %pbs[%slot] : !ttg.memdesc<2x64x64xf16, #s, #smem, mutable> -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
        ttng.async_tma_copy_global_to_local %pb[%k, %p0] %bt, %f, %ptrue : !tt.tensordesc<tensor<64x64xf16, #s>>, !ttg.memdesc<1xi64, #b, #smem, mutable> -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
        scf.yield
      }
      ttg.warp_return
    } : (!tt.tensordesc<tensor<64x64xf16, #s>>, !tt.tensordesc<tensor<64x64xf16, #s>>, !ttg.memdesc<2x64x64xf16, #s, #smem, mutable>, !ttg.memdesc<2x64x64xf16, #s, #smem, mutable>, !ttg.memdesc<2x1xi64, #b, #smem, mutable>, !ttg.memdesc<2x1xi64, #b, #smem, mutable>, i32) -> ()
    tt.return
  }
}
)";

/// kRoles with B copied by the threads of the loader's warp (cp.async), 64 numbers to a row.
inline const std::string kCopies = R"(
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#b = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#l = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @gemm(%a: !tt.tensordesc<tensor<64x64xf16, #s>>, %b: !tt.ptr<f16>, %c: !tt.tensordesc<tensor<64x64xf16, #s>>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %as = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #s, #smem, mutable>
    %bs = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #s, #smem, mutable>
    %cs = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
    %full = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, #b, #smem, mutable>
    %empty = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, #b, #smem, mutable>
    %full0 = ttg.memdesc_index %full[%c0] : !ttg.memdesc<2x1xi64, #b, #smem, mutable> -> !ttg.memdesc<1xi64, #b, #smem, mutable>
    %full1 = ttg.memdesc_index %full[%c1] : !ttg.memdesc<2x1xi64, #b, #smem, mutable> -> !ttg.memdesc<1xi64, #b, #smem, mutable>
    %empty0 = ttg.memdesc_index %empty[%c0] : !ttg.memdesc<2x1xi64, #b, #smem, mutable> -> !ttg.memdesc<1xi64, #b, #smem, mutable>
    %empty1 = ttg.memdesc_index %empty[%c1] : !ttg.memdesc<2x1xi64, #b, #smem, mutable> -> !ttg.memdesc<1xi64, #b, #smem, mutable>
    ttng.init_barrier %full0, 33 : !ttg.memdesc<1xi64, #b, #smem, mutable>
    ttng.init_barrier %full1, 33 : !ttg.memdesc<1xi64, #b, #smem, mutable>
    ttng.init_barrier %empty0, 1 : !ttg.memdesc<1xi64, #b, #smem, mutable>
    ttng.init_barrier %empty1, 1 : !ttg.memdesc<1xi64, #b, #smem, mutable>
    ttg.warp_specialize(%a, %b, %as, %bs, %full, %empty, %n) attributes {requestedRegisters = array<i32: 24>}
    default {
      %true = arith.constant true
      %c2 = arith.constant 2 : i32
      %c64 = arith.constant 64 : i32
      %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
      %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>)  : i32 {
        %slot = arith.remsi %i, %c2 : i32
        %lap = arith.divsi %i, %c2 : i32
        %phase = arith.andi %lap, %c1 : i32
        %f = ttg.memdesc_index %full[%slot] : !ttg.memdesc<2x1xi64, #b, #smem, mutable> -> !ttg.memdesc<1xi64, #b, #smem, mutable>
        ttng.wait_barrier %f, %phase, %true : !ttg.memdesc<1xi64, #b, #smem, mutable>
        ttng.fence_async_shared {bCluster = false}
        %at = ttg.memdesc_index %as[%slot] : !ttg.memdesc<2x64x64xf16, #s, #smem, mutable> -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
        %bt = ttg.memdesc_index %bs[%slot] : !ttg.memdesc<2x64x64xf16, #s, #smem, mutable> -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
        %d = ttng.warp_group_dot %at, %bt, %acc {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #s, #smem, mutable> * !ttg.memdesc<64x64xf16, #s, #smem, mutable> -> tensor<64x64xf32, #mma>
        %w = ttng.warp_group_dot_wait %d {pendings = 0 : i32} : tensor<64x64xf32, #mma>
        %e = ttg.memdesc_index %empty[%slot] : !ttg.memdesc<2x1xi64, #b, #smem, mutable> -> !ttg.memdesc<1xi64, #b, #smem, mutable>
        ttng.arrive_barrier %e, 1, %true : !ttg.memdesc<1xi64, #b, #smem, mutable>
        scf.yield %w : tensor<64x64xf32, #mma>
      }
      %pid = tt.get_program_id x : i32
      %row = arith.muli %pid, %c64 : i32
      %h = arith.truncf %sum : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      ttg.local_store %h, %cs : tensor<64x64xf16, #mma> -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
      ttng.fence_async_shared {bCluster = false}
      ttng.async_tma_copy_local_to_global %c[%row, %c0] %cs : !tt.tensordesc<tensor<64x64xf16, #s>>, !ttg.memdesc<64x64xf16, #s, #smem, mutable>
      ttng.async_tma_store_wait {pendings = 0 : i32}
      ttg.warp_yield
    }
    partition0(%pa: !tt.tensordesc<tensor<64x64xf16, #s>>, %pb: !tt.ptr<f16>, %pas: !ttg.memdesc<2x64x64xf16, #s, #smem, mutable>, %pbs: !ttg.memdesc<2x64x64xf16, #s, #smem, mutable>, %pfull: !ttg.memdesc<2x1xi64, #b, #smem, mutable>, %pempty: !ttg.memdesc<2x1xi64, #b, #smem, mutable>, %pn: i32) num_warps(1) {
      %ptrue = arith.constant true
      %p0 = arith.constant 0 : i32
      %p1 = arith.constant 1 : i32
      %p2 = arith.constant 2 : i32
      %p64 = arith.constant 64 : i32
      %ppid = tt.get_program_id x : i32
      %prow = arith.muli %ppid, %p64 : i32
      %rows = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #l}>>
      %cols = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #l}>>
      %row2 = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #l}>> -> tensor<64x1xi32, #l>
      %col2 = tt.expand_dims %cols {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #l}>> -> tensor<1x64xi32, #l>
      %width = arith.constant dense<64> : tensor<64x1xi32, #l>
      %down = arith.muli %row2, %width : tensor<64x1xi32, #l>
      %down2 = tt.broadcast %down : tensor<64x1xi32, #l> -> tensor<64x64xi32, #l>
      %across = tt.broadcast %col2 : tensor<1x64xi32, #l> -> tensor<64x64xi32, #l>
      %offsets = arith.addi %down2, %across : tensor<64x64xi32, #l>
      scf.for %i = %p0 to %pn step %p1  : i32 {
        %k = arith.muli %i, %p64 : i32
        %slot = arith.remsi %i, %p2 : i32
        %lap = arith.divsi %i, %p2 : i32
        %phase = arith.andi %lap, %p1 : i32
        %parity = arith.xori %phase, %p1 : i32
        %e = ttg.memdesc_index %pempty[%slot] : !ttg.memdesc<2x1xi64, #b, #smem, mutable> -> !ttg.memdesc<1xi64, #b, #smem, mutable>
        ttng.wait_barrier %e, %parity, %ptrue : !ttg.memdesc<1xi64, #b, #smem, mutable>
        %f = ttg.memdesc_index %pfull[%slot] : !ttg.memdesc<2x1xi64, #b, #smem, mutable> -> !ttg.memdesc<1xi64, #b, #smem, mutable>
        ttng.barrier_expect %f, 8192, %ptrue : !ttg.memdesc<1xi64, #b, #smem, mutable>
        %at = ttg.memdesc_index %pas[%slot] : !ttg.memdesc<2x64x64xf16, #s, #smem, mutable> -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
        ttng.async_tma_copy_global_to_local %pa[%prow, %k] %at, %f, %ptrue : !tt.tensordesc<tensor<64x64xf16, #s>>, !ttg.memdesc<1xi64, #b, #smem, mutable> -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
        %bt = ttg.memdesc_index %pbs[%slot] : !ttg.memdesc<2x64x64xf16, #s, #smem, mutable> -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
        %start = arith.muli %k, %p64 : i32
        %base = tt.addptr %pb, %start : !tt.ptr<f16>, i32
        %bases = tt.splat %base : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #l>
        %ptrs = tt.addptr %bases, %offsets : tensor<64x64x!tt.ptr<f16>, #l>, tensor<64x64xi32, #l>
        %t = ttg.async_copy_global_to_local %ptrs, %bt : tensor<64x64x!tt.ptr<f16>, #l> -> <64x64xf16, #s, #smem, mutable>
        ttng.async_copy_mbarrier_arrive %f {noIncrement} : !ttg.memdesc<1xi64, #b, #smem, mutable>
        scf.yield
      }
      ttg.warp_return
    } : (!tt.tensordesc<tensor<64x64xf16, #s>>, !tt.ptr<f16>, !ttg.memdesc<2x64x64xf16, #s, #smem, mutable>, !ttg.memdesc<2x64x64xf16, #s, #smem, mutable>, !ttg.memdesc<2x1xi64, #b, #smem, mutable>, !ttg.memdesc<2x1xi64, #b, #smem, mutable>, i32) -> ()
    tt.return
  }
}
)";

}  // namespace twill::tests
