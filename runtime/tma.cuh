#pragma once

#include "runtime/types.cuh"

/// The copy engine: boxes of a tensor, described by a tensor map (runtime/host.cuh), between global
/// and shared memory (PTX ISA, "cp.async.bulk.tensor"). One thread issues a copy; only bulk_wait
/// and bulk_wait_read wait.
///
/// `map` is a `const __grid_constant__ CUtensorMap` parameter of the kernel. `smem` is aligned to
/// 128 bytes, and to 1024 where the map swizzles by 128 bytes. Coordinates belong to the box's
/// first element, innermost dimension first, in elements; one per dimension, 1 to 5 of them. They
/// may lie outside the tensor: elements outside read as zero and are not written.
namespace twill {

// TWILL_BOX(COORDINATES, NAME, OPERANDS, END, ...) issues the instruction of
// `sizeof...(coordinates)` dimensions: NAME, "1d" to "5d", OPERANDS, the coordinates, END.
// COORDINATES is TWILL_FROM_N, where N is the number of operands in `...`: coordinates are the
// operands after these.
#define TWILL_FROM_2 "%2", "%2, %3", "%2, %3, %4", "%2, %3, %4, %5", "%2, %3, %4, %5, %6"
#define TWILL_FROM_3 "%3", "%3, %4", "%3, %4, %5", "%3, %4, %5, %6", "%3, %4, %5, %6, %7"
#define TWILL_FROM_4 "%4", "%4, %5", "%4, %5, %6", "%4, %5, %6, %7", "%4, %5, %6, %7, %8"
#define TWILL_BOX(...) TWILL_BOX_OF(__VA_ARGS__)
#define TWILL_BOX_OF(ONE, TWO, THREE, FOUR, FIVE, NAME, OPERANDS, END, ...)                       \
  static_assert(sizeof...(coordinates) >= 1 && sizeof...(coordinates) <= 5, "1 to 5 dimensions"); \
  const int32_t at[] = {static_cast<int32_t>(coordinates)...};                                    \
  if constexpr (sizeof...(coordinates) == 1)                                                      \
    asm volatile(NAME "1d" OPERANDS "{" ONE "}" END ::__VA_ARGS__, "r"(at[0]) : "memory");        \
  if constexpr (sizeof...(coordinates) == 2)                                                      \
    asm volatile(NAME "2d" OPERANDS "{" TWO "}" END ::__VA_ARGS__, "r"(at[0]), "r"(at[1])         \
                 : "memory");                                                                     \
  if constexpr (sizeof...(coordinates) == 3)                                                      \
    asm volatile(NAME "3d" OPERANDS "{" THREE "}" END ::__VA_ARGS__, "r"(at[0]), "r"(at[1]),      \
                 "r"(at[2])                                                                       \
                 : "memory");                                                                     \
  if constexpr (sizeof...(coordinates) == 4)                                                      \
    asm volatile(NAME "4d" OPERANDS "{" FOUR "}" END ::__VA_ARGS__, "r"(at[0]), "r"(at[1]),       \
                 "r"(at[2]), "r"(at[3])                                                           \
                 : "memory");                                                                     \
  if constexpr (sizeof...(coordinates) == 5)                                                      \
  asm volatile(NAME "5d" OPERANDS "{" FIVE "}" END ::__VA_ARGS__, "r"(at[0]), "r"(at[1]),         \
               "r"(at[2]), "r"(at[3]), "r"(at[4])                                                 \
               : "memory")

/// Copies the box to `smem`. Its bytes (all of them, also those outside the tensor) count at
/// `full`, which must expect them.
template <class... Coordinates>
__device__ __forceinline__ void tma_load(void* smem, const CUtensorMap* map, uint64_t* full,
                                         Coordinates... coordinates) {
  TWILL_BOX(TWILL_FROM_3, "cp.async.bulk.tensor.",
            ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, ", "], [%2];",
            "r"(shared_address(smem)), "l"(map), "r"(shared_address(full)));
}

/// Copies the box into every CTA of the cluster whose bit is set in `ctas`, at the offset of
/// `smem`. Bytes count at each CTA's own `full`.
template <class... Coordinates>
__device__ __forceinline__ void tma_load_multicast(void* smem, const CUtensorMap* map,
                                                   uint64_t* full, uint16_t ctas,
                                                   Coordinates... coordinates) {
  TWILL_BOX(
      TWILL_FROM_4, "cp.async.bulk.tensor.",
      ".shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, ",
      "], [%2], %3;", "r"(shared_address(smem)), "l"(map), "r"(shared_address(full)), "h"(ctas));
}

/// Copies `smem` to the box. Data that other instructions wrote into `smem` needs a
/// fence_proxy_async by its writers, and a barrier, before.
template <class... Coordinates>
__device__ __forceinline__ void tma_store(const CUtensorMap* map, const void* smem,
                                          Coordinates... coordinates) {
  TWILL_BOX(TWILL_FROM_2, "cp.async.bulk.tensor.", ".global.shared::cta.tile.bulk_group [%0, ",
            "], [%1];", "l"(map), "r"(shared_address(smem)));
}

/// Adds `smem` to the box, element by element, in the map's type. Each addition is atomic; their
/// order is not fixed.
template <class... Coordinates>
__device__ __forceinline__ void tma_reduce_add(const CUtensorMap* map, const void* smem,
                                               Coordinates... coordinates) {
  TWILL_BOX(TWILL_FROM_2, "cp.reduce.async.bulk.tensor.",
            ".global.shared::cta.add.tile.bulk_group [%0, ", "], [%1];", "l"(map),
            "r"(shared_address(smem)));
}

#undef TWILL_BOX_OF
#undef TWILL_BOX
#undef TWILL_FROM_4
#undef TWILL_FROM_3
#undef TWILL_FROM_2

/// Closes the group of this thread's stores and reductions since the last commit.
__device__ __forceinline__ void bulk_commit() { asm volatile("cp.async.bulk.commit_group;"); }

/// Waits until at most `N` of this thread's youngest groups are unfinished: results are in memory.
template <int N>
__device__ __forceinline__ void bulk_wait() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory");
}

/// Waits until at most `N` of this thread's youngest groups still read shared memory.
template <int N>
__device__ __forceinline__ void bulk_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}

/// Brings the map into the descriptor cache; called by one thread, before the first copy (PTX ISA,
/// "prefetch").
__device__ __forceinline__ void prefetch_map(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/// Fence for a thread that wrote shared memory with ordinary instructions (stmatrix too). Called
/// before the barrier after which the copy engine or a wgmma reads the data (PTX ISA, "Async
/// proxy").
__device__ __forceinline__ void fence_proxy_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

}  // namespace twill
