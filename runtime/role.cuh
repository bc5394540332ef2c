#pragma once

#include "runtime/types.cuh"

/// Identity of a thread within its CTA, and the registers of its role.
namespace twill {

inline constexpr int kWarpgroup = 128;  ///< threads of a warpgroup

/// Lets the role use `N` registers a thread. Called by all warps of a warpgroup, converged, once at
/// the start of a role. Waits until other roles have released enough (PTX ISA, "setmaxnreg").
template <int N>
__device__ __forceinline__ void registers_raise() {
  static_assert(N >= 24 && N <= 256 && N % 8 == 0, "24 to 256 registers, a multiple of 8");
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}

/// The same for a role that releases registers.
template <int N>
__device__ __forceinline__ void registers_drop() {
  static_assert(N >= 24 && N <= 256 && N % 8 == 0, "24 to 256 registers, a multiple of 8");
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}

/// True in exactly one thread of the warp, always the same thread; called by a whole warp,
/// converged. ptxas then knows that one thread runs the dependent code, unlike with `lane == 0`
/// (PTX ISA, "elect.sync").
__device__ __forceinline__ bool elect_one() {
  uint32_t elected;
  asm volatile("{.reg .pred p; elect.sync _|p, 0xffffffff; selp.b32 %0, 1, 0, p;}" : "=r"(elected));
  return elected != 0;
}

/// The warp's index in the CTA (one-dimensional blocks), in a uniform register. Called by a whole
/// warp.
__device__ __forceinline__ int warp_index() {
  return __shfl_sync(0xffffffffU, static_cast<int>(threadIdx.x) / 32, 0);
}

/// The warpgroup's index in the CTA, in a uniform register. Called by a whole warp.
__device__ __forceinline__ int warpgroup_index() {
  return __shfl_sync(0xffffffffU, static_cast<int>(threadIdx.x) / kWarpgroup, 0);
}

/// The thread's index in its warpgroup, 0 to 127.
__device__ __forceinline__ int thread_in_warpgroup() {
  return static_cast<int>(threadIdx.x) % kWarpgroup;
}

}  // namespace twill
