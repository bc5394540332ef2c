#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "runtime/types.cuh"

/// Computes functions that the hardware approximates by the host's library.
namespace twill {

__forceinline__ int thread_here() { return static_cast<int>(threadIdx.x); }

template <class T>
__forceinline__ uint32_t pack(float low, float high);
template <>
__forceinline__ uint32_t pack<__half>(float low, float high) {
  return run::to_half(low) | static_cast<uint32_t>(run::to_half(high)) << 16;
}
template <>
__forceinline__ uint32_t pack<__nv_bfloat16>(float low, float high) {
  return run::to_bfloat16(low) | static_cast<uint32_t>(run::to_bfloat16(high)) << 16;
}
__forceinline__ float exp2_approx(float x) { return exp2f(x); }
__forceinline__ float log2_approx(float x) { return log2f(x); }
__forceinline__ float maximum(float a, float b) {
  return __builtin_isnan(a) ? a : __builtin_isnan(b) ? b : fmaxf(a, b);
}
__forceinline__ float minimum(float a, float b) {
  return __builtin_isnan(a) ? a : __builtin_isnan(b) ? b : fminf(a, b);
}
__forceinline__ void stmatrix_x4(void* row, uint32_t r0, uint32_t r1, uint32_t r2, uint32_t r3) {
  run::store_matrices(row, {r0, r1, r2, r3}, false);
}
__forceinline__ void stmatrix_x4_trans(void* row, uint32_t r0, uint32_t r1, uint32_t r2,
                                       uint32_t r3) {
  run::store_matrices(row, {r0, r1, r2, r3}, true);
}
__forceinline__ void ldmatrix_x4(uint32_t& r0, uint32_t& r1, uint32_t& r2, uint32_t& r3,
                                 const void* row) {
  uint32_t values[4];
  run::load_matrices(values, row);
  r0 = values[0];
  r1 = values[1];
  r2 = values[2];
  r3 = values[3];
}

}  // namespace twill
