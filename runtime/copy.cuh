#pragma once

#include "runtime/types.cuh"

/// Copies by threads from global to shared memory (PTX ISA, "cp.async"). They land at an unknown
/// time, which mbarriers report. The data is written through the generic proxy: a reader by wgmma
/// fences (fence_proxy_async) between its wait for the barrier and the wgmma.
namespace twill {

/// Place of byte `byte` of a row (less than Swizzle) in a panel of rows of Swizzle bytes (32, 64 or
/// 128). TMA and wgmma permute pieces of 16 bytes in this way. The panel is aligned to 8 rows.
template <int Swizzle>
__device__ __forceinline__ constexpr int swizzled(int row, int byte) {
  static_assert(Swizzle == 32 || Swizzle == 64 || Swizzle == 128, "a swizzle that wgmma reads");
  const int at = row * Swizzle + byte;
  return at ^ ((at >> 3) & (Swizzle - 16));
}

/// Copies `Bytes` (4, 8 or 16) from `from` in global memory to `to` in shared memory, both aligned
/// to as many bytes. If not `inside`, writes zeros and reads no memory.
template <int Bytes>
__device__ __forceinline__ void copy_async(void* to, const void* from, bool inside = true) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "what cp.async copies");
  const int size = inside ? Bytes : 0;
  if constexpr (Bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)),
                 "l"(__cvta_generic_to_global(from)), "r"(size)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(to)),
                 "l"(__cvta_generic_to_global(from)), "n"(Bytes), "r"(size)
                 : "memory");
  }
}

/// One arrival of the calling thread at `full` (this CTA's), once all its copies until here have
/// landed. The barrier counts it like any other arrival. The function of cuda::ptx omits the state
/// space, without which the 32-bit address is invalid.
__device__ __forceinline__ void copies_arrive(uint64_t* full) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(full))
               : "memory");
}

}  // namespace twill
