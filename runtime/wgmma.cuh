#pragma once

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
#define TWILL_NAMES_8 "%0, %1, %2, %3"
#define TWILL_NAMES_16 TWILL_NAMES_8 ", " "%4, %5, %6, %7"
#define TWILL_NAMES_24 TWILL_NAMES_16 ", " "%8, %9, %10, %11"
#define TWILL_NAMES_32 TWILL_NAMES_24 ", " "%12, %13, %14, %15"
#define TWILL_NAMES_40 TWILL_NAMES_32 ", " "%16, %17, %18, %19"
#define TWILL_NAMES_48 TWILL_NAMES_40 ", " "%20, %21, %22, %23"
#define TWILL_NAMES_56 TWILL_NAMES_48 ", " "%24, %25, %26, %27"
#define TWILL_NAMES_64 TWILL_NAMES_56 ", " "%28, %29, %30, %31"
#define TWILL_NAMES_72 TWILL_NAMES_64 ", " "%32, %33, %34, %35"
#define TWILL_NAMES_80 TWILL_NAMES_72 ", " "%36, %37, %38, %39"
#define TWILL_NAMES_88 TWILL_NAMES_80 ", " "%40, %41, %42, %43"
#define TWILL_NAMES_96 TWILL_NAMES_88 ", " "%44, %45, %46, %47"
#define TWILL_NAMES_104 TWILL_NAMES_96 ", " "%48, %49, %50, %51"
#define TWILL_NAMES_112 TWILL_NAMES_104 ", " "%52, %53, %54, %55"
#define TWILL_NAMES_120 TWILL_NAMES_112 ", " "%56, %57, %58, %59"
#define TWILL_NAMES_128 TWILL_NAMES_120 ", " "%60, %61, %62, %63"
#define TWILL_NAMES_136 TWILL_NAMES_128 ", " "%64, %65, %66, %67"
#define TWILL_NAMES_144 TWILL_NAMES_136 ", " "%68, %69, %70, %71"
#define TWILL_NAMES_152 TWILL_NAMES_144 ", " "%72, %73, %74, %75"
#define TWILL_NAMES_160 TWILL_NAMES_152 ", " "%76, %77, %78, %79"
#define TWILL_NAMES_168 TWILL_NAMES_160 ", " "%80, %81, %82, %83"
#define TWILL_NAMES_176 TWILL_NAMES_168 ", " "%84, %85, %86, %87"
#define TWILL_NAMES_184 TWILL_NAMES_176 ", " "%88, %89, %90, %91"
#define TWILL_NAMES_192 TWILL_NAMES_184 ", " "%92, %93, %94, %95"
#define TWILL_NAMES_200 TWILL_NAMES_192 ", " "%96, %97, %98, %99"
#define TWILL_NAMES_208 TWILL_NAMES_200 ", " "%100, %101, %102, %103"
#define TWILL_NAMES_216 TWILL_NAMES_208 ", " "%104, %105, %106, %107"
#define TWILL_NAMES_224 TWILL_NAMES_216 ", " "%108, %109, %110, %111"
#define TWILL_NAMES_232 TWILL_NAMES_224 ", " "%112, %113, %114, %115"
#define TWILL_NAMES_240 TWILL_NAMES_232 ", " "%116, %117, %118, %119"
#define TWILL_NAMES_248 TWILL_NAMES_240 ", " "%120, %121, %122, %123"
#define TWILL_NAMES_256 TWILL_NAMES_248 ", " "%124, %125, %126, %127"
#define TWILL_VALUES_8 TWILL_FOUR(0)
#define TWILL_VALUES_16 TWILL_VALUES_8, TWILL_FOUR(4)
#define TWILL_VALUES_24 TWILL_VALUES_16, TWILL_FOUR(8)
#define TWILL_VALUES_32 TWILL_VALUES_24, TWILL_FOUR(12)
#define TWILL_VALUES_40 TWILL_VALUES_32, TWILL_FOUR(16)
#define TWILL_VALUES_48 TWILL_VALUES_40, TWILL_FOUR(20)
#define TWILL_VALUES_56 TWILL_VALUES_48, TWILL_FOUR(24)
#define TWILL_VALUES_64 TWILL_VALUES_56, TWILL_FOUR(28)
#define TWILL_VALUES_72 TWILL_VALUES_64, TWILL_FOUR(32)
#define TWILL_VALUES_80 TWILL_VALUES_72, TWILL_FOUR(36)
#define TWILL_VALUES_88 TWILL_VALUES_80, TWILL_FOUR(40)
#define TWILL_VALUES_96 TWILL_VALUES_88, TWILL_FOUR(44)
#define TWILL_VALUES_104 TWILL_VALUES_96, TWILL_FOUR(48)
#define TWILL_VALUES_112 TWILL_VALUES_104, TWILL_FOUR(52)
#define TWILL_VALUES_120 TWILL_VALUES_112, TWILL_FOUR(56)
#define TWILL_VALUES_128 TWILL_VALUES_120, TWILL_FOUR(60)
#define TWILL_VALUES_136 TWILL_VALUES_128, TWILL_FOUR(64)
#define TWILL_VALUES_144 TWILL_VALUES_136, TWILL_FOUR(68)
#define TWILL_VALUES_152 TWILL_VALUES_144, TWILL_FOUR(72)
#define TWILL_VALUES_160 TWILL_VALUES_152, TWILL_FOUR(76)
#define TWILL_VALUES_168 TWILL_VALUES_160, TWILL_FOUR(80)
#define TWILL_VALUES_176 TWILL_VALUES_168, TWILL_FOUR(84)
#define TWILL_VALUES_184 TWILL_VALUES_176, TWILL_FOUR(88)
#define TWILL_VALUES_192 TWILL_VALUES_184, TWILL_FOUR(92)
#define TWILL_VALUES_200 TWILL_VALUES_192, TWILL_FOUR(96)
#define TWILL_VALUES_208 TWILL_VALUES_200, TWILL_FOUR(100)
#define TWILL_VALUES_216 TWILL_VALUES_208, TWILL_FOUR(104)
#define TWILL_VALUES_224 TWILL_VALUES_216, TWILL_FOUR(108)
#define TWILL_VALUES_232 TWILL_VALUES_224, TWILL_FOUR(112)
#define TWILL_VALUES_240 TWILL_VALUES_232, TWILL_FOUR(116)
#define TWILL_VALUES_248 TWILL_VALUES_240, TWILL_FOUR(120)
#define TWILL_VALUES_256 TWILL_VALUES_248, TWILL_FOUR(124)

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

TWILL_WGMMA(8, "%4", "%5", "%6", "%7", "%8", "%9", "%10")
TWILL_WGMMA(16, "%8", "%9", "%10", "%11", "%12", "%13", "%14")
TWILL_WGMMA(24, "%12", "%13", "%14", "%15", "%16", "%17", "%18")
TWILL_WGMMA(32, "%16", "%17", "%18", "%19", "%20", "%21", "%22")
TWILL_WGMMA(40, "%20", "%21", "%22", "%23", "%24", "%25", "%26")
TWILL_WGMMA(48, "%24", "%25", "%26", "%27", "%28", "%29", "%30")
TWILL_WGMMA(56, "%28", "%29", "%30", "%31", "%32", "%33", "%34")
TWILL_WGMMA(64, "%32", "%33", "%34", "%35", "%36", "%37", "%38")
TWILL_WGMMA(72, "%36", "%37", "%38", "%39", "%40", "%41", "%42")
TWILL_WGMMA(80, "%40", "%41", "%42", "%43", "%44", "%45", "%46")
TWILL_WGMMA(88, "%44", "%45", "%46", "%47", "%48", "%49", "%50")
TWILL_WGMMA(96, "%48", "%49", "%50", "%51", "%52", "%53", "%54")
TWILL_WGMMA(104, "%52", "%53", "%54", "%55", "%56", "%57", "%58")
TWILL_WGMMA(112, "%56", "%57", "%58", "%59", "%60", "%61", "%62")
TWILL_WGMMA(120, "%60", "%61", "%62", "%63", "%64", "%65", "%66")
TWILL_WGMMA(128, "%64", "%65", "%66", "%67", "%68", "%69", "%70")
TWILL_WGMMA(136, "%68", "%69", "%70", "%71", "%72", "%73", "%74")
TWILL_WGMMA(144, "%72", "%73", "%74", "%75", "%76", "%77", "%78")
TWILL_WGMMA(152, "%76", "%77", "%78", "%79", "%80", "%81", "%82")
TWILL_WGMMA(160, "%80", "%81", "%82", "%83", "%84", "%85", "%86")
TWILL_WGMMA(168, "%84", "%85", "%86", "%87", "%88", "%89", "%90")
TWILL_WGMMA(176, "%88", "%89", "%90", "%91", "%92", "%93", "%94")
TWILL_WGMMA(184, "%92", "%93", "%94", "%95", "%96", "%97", "%98")
TWILL_WGMMA(192, "%96", "%97", "%98", "%99", "%100", "%101", "%102")
TWILL_WGMMA(200, "%100", "%101", "%102", "%103", "%104", "%105", "%106")
TWILL_WGMMA(208, "%104", "%105", "%106", "%107", "%108", "%109", "%110")
TWILL_WGMMA(216, "%108", "%109", "%110", "%111", "%112", "%113", "%114")
TWILL_WGMMA(224, "%112", "%113", "%114", "%115", "%116", "%117", "%118")
TWILL_WGMMA(232, "%116", "%117", "%118", "%119", "%120", "%121", "%122")
TWILL_WGMMA(240, "%120", "%121", "%122", "%123", "%124", "%125", "%126")
TWILL_WGMMA(248, "%124", "%125", "%126", "%127", "%128", "%129", "%130")
TWILL_WGMMA(256, "%128", "%129", "%130", "%131", "%132", "%133", "%134")

#undef TWILL_WGMMA
#undef TWILL_WGMMA_RS
#undef TWILL_WGMMA_SS

#undef TWILL_FOUR
#undef TWILL_NAMES_8
#undef TWILL_NAMES_16
#undef TWILL_NAMES_24
#undef TWILL_NAMES_32
#undef TWILL_NAMES_40
#undef TWILL_NAMES_48
#undef TWILL_NAMES_56
#undef TWILL_NAMES_64
#undef TWILL_NAMES_72
#undef TWILL_NAMES_80
#undef TWILL_NAMES_88
#undef TWILL_NAMES_96
#undef TWILL_NAMES_104
#undef TWILL_NAMES_112
#undef TWILL_NAMES_120
#undef TWILL_NAMES_128
#undef TWILL_NAMES_136
#undef TWILL_NAMES_144
#undef TWILL_NAMES_152
#undef TWILL_NAMES_160
#undef TWILL_NAMES_168
#undef TWILL_NAMES_176
#undef TWILL_NAMES_184
#undef TWILL_NAMES_192
#undef TWILL_NAMES_200
#undef TWILL_NAMES_208
#undef TWILL_NAMES_216
#undef TWILL_NAMES_224
#undef TWILL_NAMES_232
#undef TWILL_NAMES_240
#undef TWILL_NAMES_248
#undef TWILL_NAMES_256
#undef TWILL_VALUES_8
#undef TWILL_VALUES_16
#undef TWILL_VALUES_24
#undef TWILL_VALUES_32
#undef TWILL_VALUES_40
#undef TWILL_VALUES_48
#undef TWILL_VALUES_56
#undef TWILL_VALUES_64
#undef TWILL_VALUES_72
#undef TWILL_VALUES_80
#undef TWILL_VALUES_88
#undef TWILL_VALUES_96
#undef TWILL_VALUES_104
#undef TWILL_VALUES_112
#undef TWILL_VALUES_120
#undef TWILL_VALUES_128
#undef TWILL_VALUES_136
#undef TWILL_VALUES_144
#undef TWILL_VALUES_152
#undef TWILL_VALUES_160
#undef TWILL_VALUES_168
#undef TWILL_VALUES_176
#undef TWILL_VALUES_184
#undef TWILL_VALUES_192
#undef TWILL_VALUES_200
#undef TWILL_VALUES_208
#undef TWILL_VALUES_216
#undef TWILL_VALUES_224
#undef TWILL_VALUES_232
#undef TWILL_VALUES_240
#undef TWILL_VALUES_248
#undef TWILL_VALUES_256

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
