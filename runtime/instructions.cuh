#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "runtime/types.cuh"

/// Single instructions without a C++ form, except those of barriers, copies and products. Functions
/// built from them (runtime/fragment.cuh, runtime/tile.cuh) are plain C++.
namespace twill {

/// threadIdx.x, read again at each use, so that values computed from it are computed at their use.
/// Otherwise the compiler computes such values once, before all loops, and keeps them in registers
/// that the loops need.
__device__ __forceinline__ int thread_here() {
  int thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread;
}

/// Two values, rounded to nearest even, as the two halves of a register; `low` belongs to the lower
/// column. Packed values i, i + 1 of an accumulator are register i / 2 of a wgmma's A operand.
template <class T>
__device__ __forceinline__ uint32_t pack(float low, float high);

template <>
__device__ __forceinline__ uint32_t pack<__half>(float low, float high) {
  uint32_t result;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
}

template <>
__device__ __forceinline__ uint32_t pack<__nv_bfloat16>(float low, float high) {
  uint32_t result;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
}

/// 2^x by the approximate unit; subnormal arguments and results are zero (PTX ISA, "ex2").
__device__ __forceinline__ float exp2_approx(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// log2(x) by the approximate unit; subnormal arguments and results are zero (PTX ISA, "lg2").
__device__ __forceinline__ float log2_approx(float x) {
  float result;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// The larger and the smaller value; NaN if either is NaN (fmaxf and fminf return the other value).
__device__ __forceinline__ float maximum(float a, float b) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}
__device__ __forceinline__ float minimum(float a, float b) {
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}

/// Stores four 8 x 8 matrices of 16-bit values; called by a whole warp. Lane l gives the address of
/// row l % 8 of matrix l / 8 (16 bytes, aligned to 16). `ri` holds this lane's two values of matrix
/// i: row lane / 4, columns 2 * (lane % 4) and the next (PTX ISA, "stmatrix").
__device__ __forceinline__ void stmatrix_x4(void* row, uint32_t r0, uint32_t r1, uint32_t r2,
                                            uint32_t r3) {
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(row)),
      "r"(r0), "r"(r1), "r"(r2), "r"(r3)
      : "memory");
}

/// The same with each matrix transposed: the lane's two values are in rows 2 * (lane % 4) and the
/// next, in column lane / 4.
__device__ __forceinline__ void stmatrix_x4_trans(void* row, uint32_t r0, uint32_t r1, uint32_t r2,
                                                  uint32_t r3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                   shared_address(row)),
               "r"(r0), "r"(r1), "r"(r2), "r"(r3)
               : "memory");
}

/// The inverse of stmatrix_x4: each lane gives an address, and gets its two values of each matrix
/// (PTX ISA, "ldmatrix").
__device__ __forceinline__ void ldmatrix_x4(uint32_t& r0, uint32_t& r1, uint32_t& r2, uint32_t& r3,
                                            const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
               : "r"(shared_address(row))
               : "memory");
}

}  // namespace twill
