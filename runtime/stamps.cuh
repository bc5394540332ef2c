#pragma once

#include "runtime/types.cuh"

/// Clock stamps of an instrumented kernel (`twill emit cuda --instrument`).
namespace twill {

/// Record of a step: step `step` of the legend began when the SM's cycle counter was `clock` (mod
/// 2^32). `rounds`: repetitions of the steady state from here on, if only its beginning is stamped.
struct alignas(16) Stamp {
  uint32_t step;
  uint32_t clock;
  int rounds;
  int unused;
};

/// Stamps of one role: its first thread in CTA 0 records the first `limit` steps it takes. All
/// roles of a CTA read the same counter. A stamp costs the role about as much as a store.
class Stamps {
 public:
  __device__ __forceinline__ Stamps(Stamp* of_role, int limit, int first_warp)
      : at_(of_role),
        left_(blockIdx.x + blockIdx.y + blockIdx.z == 0 &&
                      static_cast<int>(threadIdx.x) / 32 == first_warp && elected()
                  ? limit
                  : 0) {}

  __device__ __forceinline__ void mark(uint32_t step, int rounds = 0) {
    if (left_ <= 0) return;
    uint32_t clock;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(clock)::"memory");
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, 0};" ::"l"(at_), "r"(step), "r"(clock),
                 "r"(rounds)
                 : "memory");
    ++at_;
    --left_;
  }

 private:
  /// Whether this is the lane that `elect_one` elects; also valid where only that lane runs.
  __device__ __forceinline__ static bool elected() {
    const uint32_t active = __activemask();
    return threadIdx.x % 32 == static_cast<uint32_t>(__ffs(static_cast<int>(active)) - 1);
  }

  Stamp* at_;
  int left_;
};

}  // namespace twill
