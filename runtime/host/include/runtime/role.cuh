#pragma once

#include "runtime/types.cuh"

namespace twill {

inline constexpr int kWarpgroup = 128;  ///< threads of a warpgroup

template <int N>
__forceinline__ void registers_raise() {
  static_assert(N >= 24 && N <= 256 && N % 8 == 0, "24 to 256 registers, a multiple of 8");
  run::set_registers(N, true);
}
template <int N>
__forceinline__ void registers_drop() {
  static_assert(N >= 24 && N <= 256 && N % 8 == 0, "24 to 256 registers, a multiple of 8");
  run::set_registers(N, false);
}
__forceinline__ bool elect_one() { return run::elect(); }
__forceinline__ int warp_index() { return static_cast<int>(threadIdx.x) / 32; }
__forceinline__ int warpgroup_index() { return static_cast<int>(threadIdx.x) / kWarpgroup; }
__forceinline__ int thread_in_warpgroup() { return static_cast<int>(threadIdx.x) % kWarpgroup; }

}  // namespace twill
