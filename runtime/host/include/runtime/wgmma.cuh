#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "runtime/types.cuh"

/// Multiplies with k ascending; each product and each sum is rounded to fp32. The hardware does not
/// round every sum.
namespace twill {

__forceinline__ void wgmma_fence() { run::wgmma_fence(); }
__forceinline__ void wgmma_commit() { run::wgmma_commit(); }
template <int N>
__forceinline__ void wgmma_wait() {
  static_assert(N >= 0 && N <= 7, "0 to 7 batches");
  run::wgmma_wait(N);
}
template <class T, int Size>
__forceinline__ void settle(T (&)[Size]) {}

enum class Major { k, mn };

__forceinline__ uint64_t operand(const void* smem, uint32_t leading_bytes, uint32_t stride_bytes,
                                 int swizzle_bytes) {
  return run::describe_operand(smem, leading_bytes, stride_bytes, swizzle_bytes);
}
__forceinline__ uint64_t advance(uint64_t descriptor, int bytes) {
  const uint32_t low = static_cast<uint32_t>(descriptor) + static_cast<uint32_t>(bytes / 16);
  return (descriptor & 0xffffffff00000000ULL) | low;
}

template <class T>
inline constexpr bool is_bfloat16 = false;
template <>
inline constexpr bool is_bfloat16<__nv_bfloat16> = true;

template <int N, class T, Major A, Major B, int Offset = 0, int Size>
__forceinline__ void wgmma_ss(float (&d)[Size], uint64_t a, uint64_t b, bool accumulate) {
  static_assert(N % 8 == 0 && N >= 8 && N <= 256, "N is 8, 16, ..., 256");
  static_assert(Offset >= 0 && Offset + N / 2 <= Size, "D lies in the array");
  run::wgmma(d + Offset,
             {N, is_bfloat16<T>, A == Major::mn, B == Major::mn, nullptr, a, b, accumulate});
}
template <int N, class T, Major B, int Offset = 0, int Size, int ASize>
__forceinline__ void wgmma_rs(float (&d)[Size], const uint32_t (&a)[ASize], int first, uint64_t b,
                              bool accumulate) {
  static_assert(N % 8 == 0 && N >= 8 && N <= 256, "N is 8, 16, ..., 256");
  static_assert(Offset >= 0 && Offset + N / 2 <= Size, "D lies in the array");
  run::wgmma(d + Offset, {N, is_bfloat16<T>, false, B == Major::mn, a + first, 0, b, accumulate});
}

}  // namespace twill
