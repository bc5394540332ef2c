#!/usr/bin/env python3
"""Prints runtime/wgmma.cuh: one block of inline assembly per width, too many to write by hand.

    tools/make_wgmma.py > runtime/wgmma.cuh
"""

HEAD = r'''#pragma once

// Printed by tools/make_wgmma.py, which is where to change it.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "runtime/types.cuh"

/// Products on the tensor cores (PTX ISA, "wgmma"): D (64 x N, fp32, registers) = or += A (64 x 16)
/// * B (16 x N). Operands are fp16 or bf16; N = 8, 16, ..., 256. Everything here is for a whole
/// warpgroup (four warps, the first of index 0 mod 4), converged.
///
/// A batch is wgmma_fence, products, wgmma_commit. After a wgmma_wait that covers the batch, its
/// results are complete, and the registers and shared memory that it reads are free. Operands that
/// ordinary instructions wrote to shared memory need fence_proxy_async and a barrier before
/// (runtime/tma.cuh); operands that TMA wrote need only their full barrier.
namespace twill {

/// Called before the first product of a batch, and after other instructions wrote its registers.
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/// Closes the batch of all products since the last commit. Batches finish in order.
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/// Waits until at most `N` (0 to 7) of the youngest batches are unfinished.
template <int N>
__device__ __forceinline__ void wgmma_wait() {
  static_assert(N >= 0 && N <= 7, "0 to 7 batches");
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

/// Keeps the compiler's front end from moving uses of an accumulator (or of the registers of A)
/// above the wait that covers them; called after that wait. No instruction: ptxas knows wgmma.
template <int Size>
__device__ __forceinline__ void settle(float (&values)[Size]) {
#pragma unroll
  for (int i = 0; i < Size; ++i) asm volatile("" : "+f"(values[i])::"memory");
}

template <int Size>
__device__ __forceinline__ void settle(uint32_t (&values)[Size]) {
#pragma unroll
  for (int i = 0; i < Size; ++i) asm volatile("" : "+r"(values[i])::"memory");
}

/// The dimension of an operand that is contiguous in shared memory: k, or m or n.
enum class Major { k, mn };

/// The descriptor of an operand in shared memory (PTX ISA, "Matrix Descriptor Format").
/// `swizzle_bytes` is 128, 64, 32, or 0 for none; the tile that `smem` points into is aligned to 8
/// rows of that many bytes. With a 128-byte swizzle, where a panel is rows of 128 bytes:
///   Major::k   64 values of k in a row. `stride_bytes` = 1024, from 8 rows to the next 8;
///              `leading_bytes` is not used. 16 further in k: advance by 32 bytes; after 64, the
///              next panel.
///   Major::mn  64 values of m or n in a row, one row for each k. `stride_bytes` = 1024, from 8
///              rows (of k) to the next 8; `leading_bytes` = from a panel to the next, 64 further
///              in m or n. 16 further in k: advance by 2048 bytes.
__device__ __forceinline__ uint64_t operand(const void* smem, uint32_t leading_bytes,
                                            uint32_t stride_bytes, int swizzle_bytes) {
  const uint32_t layout = swizzle_bytes == 128  ? 1U
                          : swizzle_bytes == 64 ? 2U
                          : swizzle_bytes == 32 ? 3U
                                                : 0U;
  const uint32_t low = (shared_address(smem) & 0x3ffffU) >> 4 | (leading_bytes & 0x3ffffU) << 12;
  const uint32_t high = (stride_bytes & 0x3ffffU) >> 4 | layout << 30;
  return static_cast<uint64_t>(high) << 32 | low;
}

/// The descriptor `bytes` (a multiple of 16) further on in shared memory; may be negative. One add:
/// the high half does not change.
__device__ __forceinline__ uint64_t advance(uint64_t descriptor, int bytes) {
  const uint32_t low = static_cast<uint32_t>(descriptor) + static_cast<uint32_t>(bytes / 16);
  return (descriptor & 0xffffffff00000000ULL) | low;
}

namespace detail {

template <class T>
inline constexpr bool is_half = false;
template <>
inline constexpr bool is_half<__half> = true;
template <class T>
inline constexpr bool is_bfloat16 = false;
template <>
inline constexpr bool is_bfloat16<__nv_bfloat16> = true;

template <int N>
struct Wgmma;

// The accumulator's N / 2 registers: their names in the assembly, and what they stand for.
#define TWILL_FOUR(i) \
  "+f"(d[Offset + i]), "+f"(d[Offset + i + 1]), "+f"(d[Offset + i + 2]), "+f"(d[Offset + i + 3])
'''

MACROS = r'''
#define TWILL_WGMMA_SS(N, TYPE, P0, P1, P2, P3, P4)                                    \
  asm volatile("{.reg .pred p; setp.ne.b32 p, " P2 ", 0; wgmma.mma_async.sync.aligned" \
               ".m64n" #N "k16.f32." TYPE "." TYPE " {" TWILL_NAMES_##N "}, " P0 ", " P1 \
               ", p, 1, 1, " P3 ", " P4 ";}"                                           \
               : TWILL_VALUES_##N                                                      \
               : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)),                    \
                 "n"(static_cast<int>(A)), "n"(static_cast<int>(B)))

#define TWILL_WGMMA_RS(N, TYPE, P0, P1, P2, P3, P4, P5, P6)                            \
  asm volatile("{.reg .pred p; setp.ne.b32 p, " P5 ", 0; wgmma.mma_async.sync.aligned" \
               ".m64n" #N "k16.f32." TYPE "." TYPE " {" TWILL_NAMES_##N "}, {" P0 ", " P1 \
               ", " P2 ", " P3 "}, " P4 ", p, 1, 1, " P6 ";}"                          \
               : TWILL_VALUES_##N                                                      \
               : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(b),                           \
                 "r"(static_cast<int>(accumulate)), "n"(static_cast<int>(B)))

#define TWILL_WGMMA(N, P0, P1, P2, P3, P4, P5, P6)                                              \
  template <>                                                                                   \
  struct Wgmma<N> {                                                                             \
    template <class T, Major A, Major B, int Offset, int Size>                                  \
    static __device__ __forceinline__ void ss(float (&d)[Size], uint64_t a, uint64_t b,         \
                                              bool accumulate) {                                \
      if constexpr (is_half<T>) {                                                               \
        TWILL_WGMMA_SS(N, "f16", P0, P1, P2, P3, P4);                                           \
      } else {                                                                                  \
        TWILL_WGMMA_SS(N, "bf16", P0, P1, P2, P3, P4);                                          \
      }                                                                                         \
    }                                                                                           \
    template <class T, Major B, int Offset, int Size>                                           \
    static __device__ __forceinline__ void rs(float (&d)[Size], uint32_t a0, uint32_t a1,       \
                                              uint32_t a2, uint32_t a3, uint64_t b,             \
                                              bool accumulate) {                                \
      if constexpr (is_half<T>) {                                                               \
        TWILL_WGMMA_RS(N, "f16", P0, P1, P2, P3, P4, P5, P6);                                   \
      } else {                                                                                  \
        TWILL_WGMMA_RS(N, "bf16", P0, P1, P2, P3, P4, P5, P6);                                  \
      }                                                                                         \
    }                                                                                           \
  };

'''

TAIL = r'''
#undef TWILL_WGMMA
#undef TWILL_WGMMA_RS
#undef TWILL_WGMMA_SS

}  // namespace detail

/// Issues D = A * B, or D += A * B if `accumulate`, with A and B in shared memory. T is __half or
/// __nv_bfloat16; D is d[Offset] to d[Offset + N / 2 - 1] (runtime/fragment.cuh says what they are).
template <int N, class T, Major A, Major B, int Offset = 0, int Size>
__device__ __forceinline__ void wgmma_ss(float (&d)[Size], uint64_t a, uint64_t b,
                                         bool accumulate) {
  static_assert(N % 8 == 0 && N >= 8 && N <= 256, "N is 8, 16, ..., 256");
  static_assert(Offset >= 0 && Offset + N / 2 <= Size, "D lies in the array");
  static_assert(detail::is_half<T> || detail::is_bfloat16<T>, "fp16 or bf16");
  detail::Wgmma<N>::template ss<T, A, B, Offset>(d, a, b, accumulate);
}

/// Issues the product with A in registers: a[first] to a[first + 3]. These are the packed values 8k
/// to 8k + 7 of an accumulator for its columns 16k to 16k + 15 (pack() in runtime/fragment.cuh).
/// `first` is a compile-time constant once inlined, or `a` ends up in local memory.
template <int N, class T, Major B, int Offset = 0, int Size, int ASize>
__device__ __forceinline__ void wgmma_rs(float (&d)[Size], const uint32_t (&a)[ASize], int first,
                                         uint64_t b, bool accumulate) {
  static_assert(N % 8 == 0 && N >= 8 && N <= 256, "N is 8, 16, ..., 256");
  static_assert(Offset >= 0 && Offset + N / 2 <= Size, "D lies in the array");
  static_assert(detail::is_half<T> || detail::is_bfloat16<T>, "fp16 or bf16");
  detail::Wgmma<N>::template rs<T, B, Offset>(d, a[first], a[first + 1], a[first + 2],
                                              a[first + 3], b, accumulate);
}

}  // namespace twill
'''


def cumulative(name, separator, four):
    """Macros name_8, name_16, ..., each the previous macro with four registers more."""
    for n in range(8, 257, 8):
        before = "" if n == 8 else f"TWILL_{name}_{n - 8}{separator} "
        yield f"#define TWILL_{name}_{n} {before}{four(n // 2 - 4)}"


def names(first):
    return '"' + ", ".join(f"%{first + i}" for i in range(4)) + '"'


def text():
    lines = list(cumulative("NAMES", ' ", "', names))
    lines += cumulative("VALUES", ",", lambda first: f"TWILL_FOUR({first})")
    shapes = []
    for n in range(8, 257, 8):
        operands = ", ".join(f'"%{n // 2 + i}"' for i in range(7))
        shapes.append(f"TWILL_WGMMA({n}, {operands})")
    undefs = ["#undef TWILL_FOUR"] + [f"#undef TWILL_{name}_{n}" for name in ("NAMES", "VALUES") for n in range(8, 257, 8)]
    return HEAD + "\n".join(lines) + "\n" + MACROS + "\n".join(shapes) + "\n" + TAIL.replace(
        "\n}  // namespace detail", "\n".join([""] + undefs) + "\n\n}  // namespace detail", 1)


if __name__ == "__main__":
    print(text(), end="")
