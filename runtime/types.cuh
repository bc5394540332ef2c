#pragma once

/// Types for every header of the runtime, under nvcc and under NVRTC (which has no host headers).

#if defined(__CUDACC_RTC__)
#include <cuda/std/cstdint>

/// The 128 opaque bytes that <cuda.h> calls a tensor map; encoded on the host (runtime/host.cuh).
struct alignas(128) CUtensorMap_st {
  uint64_t opaque[16];
};
typedef CUtensorMap_st CUtensorMap;
#else
#include <cstdint>
#include <cuda.h>
#include <cuda_runtime.h>
#endif

namespace twill {

/// The 32-bit address of an object in this CTA's shared memory.
__device__ __forceinline__ uint32_t shared_address(const void* object) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(object));
}

}  // namespace twill
