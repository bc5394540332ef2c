#pragma once

#include <cuda/ptx>

#include "runtime/types.cuh"

/// The copy engine: boxes of a tensor, described by a tensor map (runtime/host.cuh), between global
/// and shared memory (PTX ISA, "cp.async.bulk.tensor"). One thread issues a copy; nothing here
/// waits but bulk_wait and bulk_wait_read.
///
/// `map` is a `const __grid_constant__ CUtensorMap` parameter of the kernel. `smem` is aligned to
/// 128 bytes, and to 1024 where the map swizzles by 128 bytes. Coordinates are those of the box's
/// first element, innermost dimension first, in elements; one per dimension, 1 to 5 of them; they
/// may lie outside of the tensor: what is outside reads as zero and is not written.
namespace twill {

/// Box to `smem`. Its bytes (all of them, also those outside of the tensor) count at `full`, which
/// must expect them.
template <class... Coordinates>
__device__ __forceinline__ void tma_load(void* smem, const CUtensorMap* map, uint64_t* full,
                                         Coordinates... coordinates) {
  static_assert(sizeof...(coordinates) >= 1 && sizeof...(coordinates) <= 5, "1 to 5 dimensions");
  const int32_t box[sizeof...(coordinates)] = {static_cast<int32_t>(coordinates)...};
  cuda::ptx::cp_async_bulk_tensor(cuda::ptx::space_cluster, cuda::ptx::space_global, smem, map, box,
                                  full);
}

/// Box into every CTA of the cluster whose bit is set in `ctas`, at the offset of `smem`. Bytes
/// count at each CTA's own `full`.
template <class... Coordinates>
__device__ __forceinline__ void tma_load_multicast(void* smem, const CUtensorMap* map,
                                                   uint64_t* full, uint16_t ctas,
                                                   Coordinates... coordinates) {
  static_assert(sizeof...(coordinates) >= 1 && sizeof...(coordinates) <= 5, "1 to 5 dimensions");
  const int32_t box[sizeof...(coordinates)] = {static_cast<int32_t>(coordinates)...};
  cuda::ptx::cp_async_bulk_tensor(cuda::ptx::space_cluster, cuda::ptx::space_global, smem, map, box,
                                  full, ctas);
}

/// `smem` to the box. What other instructions wrote into `smem` needs a fence_proxy_async by its
/// writers, and a barrier, before.
template <class... Coordinates>
__device__ __forceinline__ void tma_store(const CUtensorMap* map, const void* smem,
                                          Coordinates... coordinates) {
  static_assert(sizeof...(coordinates) >= 1 && sizeof...(coordinates) <= 5, "1 to 5 dimensions");
  const int32_t box[sizeof...(coordinates)] = {static_cast<int32_t>(coordinates)...};
  cuda::ptx::cp_async_bulk_tensor(cuda::ptx::space_global, cuda::ptx::space_shared, map, box, smem);
}

/// Adds `smem` to the box, element by element, in the map's type; each addition is atomic, their
/// order is not fixed.
template <class... Coordinates>
__device__ __forceinline__ void tma_reduce_add(const CUtensorMap* map, const void* smem,
                                               Coordinates... coordinates) {
  static_assert(sizeof...(coordinates) >= 1 && sizeof...(coordinates) <= 5, "1 to 5 dimensions");
  const int32_t box[sizeof...(coordinates)] = {static_cast<int32_t>(coordinates)...};
  cuda::ptx::cp_reduce_async_bulk_tensor(cuda::ptx::space_global, cuda::ptx::space_shared,
                                         cuda::ptx::op_add, map, box, smem);
}

/// Closes the group of this thread's stores and reductions since the last one.
__device__ __forceinline__ void bulk_commit() { cuda::ptx::cp_async_bulk_commit_group(); }

/// Until at most `N` of this thread's youngest groups are unfinished: results are in memory.
template <int N>
__device__ __forceinline__ void bulk_wait() {
  cuda::ptx::cp_async_bulk_wait_group(cuda::ptx::n32_t<N>{});
}

/// Until at most `N` of this thread's youngest groups still read shared memory.
template <int N>
__device__ __forceinline__ void bulk_wait_read() {
  cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<N>{});
}

/// One thread, before the first copy: brings the map into the descriptor cache (PTX ISA,
/// "prefetch").
__device__ __forceinline__ void prefetch_map(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/// Fence for a thread that wrote shared memory with ordinary instructions (stmatrix too). To be
/// called before the barrier after which the copy engine or a wgmma reads it (PTX ISA, "Async
/// proxy").
__device__ __forceinline__ void fence_proxy_async() {
  cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
}

}  // namespace twill
