#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda.h>
#include <type_traits>

#include "device.h"
#include "functions.h"
#include "numbers.h"

/// The part of CUDA that printed kernels and the headers under runtime/ use, for the executor
/// (run.h). The device has the emulated number of multiprocessors, and compute capability 9.0.

using std::int32_t;
using std::uint32_t;
using std::uint64_t;

#define __device__
#define __host__
#define __global__
#define __shared__
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__
#define __launch_bounds__(...)
#ifndef __CUDACC__
#define TWILL_HOST_RUN 1
#endif

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
inline twill::run::Extent& threadIdx = twill::run::thread_index;
inline twill::run::Extent& blockIdx = twill::run::block_index;
inline twill::run::Extent& blockDim = twill::run::block_extent;
inline twill::run::Extent& gridDim = twill::run::grid_extent;

// --- The host's side ----------------------------------------------------------------------------

enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidValue = 1 };
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline const char* cudaGetErrorString(cudaError_t) { return "the executor refuses the call"; }
inline cudaError_t cudaFree(void*) { return cudaSuccess; }

struct CUstream_st;
using cudaStream_t = CUstream_st*;

enum cudaDeviceAttr {
  cudaDevAttrComputeCapabilityMajor,
  cudaDevAttrComputeCapabilityMinor,
  cudaDevAttrMultiProcessorCount
};
inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }
/// Device memory is host memory here.
template <class T>
cudaError_t cudaGetSymbolAddress(void** address, T& symbol) {
  *address = &symbol;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr what, int) {
  *value = what == cudaDevAttrComputeCapabilityMajor   ? 9
           : what == cudaDevAttrComputeCapabilityMinor ? 0
                                                       : twill::run::multiprocessors();
  return cudaSuccess;
}

enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
inline cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }

enum cudaLaunchAttributeID { cudaLaunchAttributeClusterDimension = 4 };
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  struct {
    dim3 clusterDim;
  } val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
  cudaLaunchAttribute* attrs = nullptr;
  unsigned numAttrs = 0;
};
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, Kernel,
                                           const cudaLaunchConfig_t* config) {
  const int ctas = static_cast<int>(config->attrs->val.clusterDim.x);
  *clusters = twill::run::multiprocessors() / ctas > 0 ? twill::run::multiprocessors() / ctas : 1;
  return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel, int, std::size_t) {
  *blocks = 1;
  return cudaSuccess;
}

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  twill::run::Grid grid;
  grid.ctas = {config->gridDim.x, config->gridDim.y, config->gridDim.z};
  grid.threads = static_cast<int>(config->blockDim.x * config->blockDim.y * config->blockDim.z);
  grid.cluster = config->numAttrs > 0 ? static_cast<int>(config->attrs->val.clusterDim.x) : 1;
  grid.shared_bytes = config->dynamicSmemBytes;
  auto body = [&] { kernel(arguments...); };
  twill::run::launch(
      grid, [](void* it) { (*static_cast<decltype(body)*>(it))(); }, &body);
  return cudaSuccess;
}

enum cudaDriverEntryPointQueryResult {
  cudaDriverEntryPointSuccess = 0,
  cudaDriverEntryPointSymbolNotFound = 1
};
inline constexpr unsigned long long cudaEnableDefault = 0;
inline cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** entry, unsigned,
                                                    unsigned long long,
                                                    cudaDriverEntryPointQueryResult* found) {
  *entry = nullptr;
  if (std::strcmp(name, "cuTensorMapEncodeTiled") == 0) {
    *entry = reinterpret_cast<void*>(&cuTensorMapEncodeTiled);
  } else if (std::strcmp(name, "cuCtxGetCurrent") == 0) {
    *entry = reinterpret_cast<void*>(&cuCtxGetCurrent);
  }
  *found = *entry == nullptr ? cudaDriverEntryPointSymbolNotFound : cudaDriverEntryPointSuccess;
  return cudaSuccess;
}

// --- The device's side --------------------------------------------------------------------------

inline std::size_t __cvta_generic_to_shared(const void* object) {
  return reinterpret_cast<std::size_t>(object);
}
inline void __syncthreads() { twill::run::sync_threads(); }
inline void __syncwarp() { twill::run::sync_warp(); }
inline void __threadfence() {}
inline uint32_t __activemask() { return twill::run::active_lanes(); }
inline int __ffs(int bits) { return __builtin_ffs(bits); }

template <class T>
__forceinline__ T __shfl_xor_sync(unsigned, T value, int lanes) {
  static_assert(sizeof(T) == 4, "32-bit values");
  return __builtin_bit_cast(T, twill::run::shuffle(__builtin_bit_cast(uint32_t, value), lanes, -1));
}
template <class T>
__forceinline__ T __shfl_sync(unsigned, T value, int lane) {
  static_assert(sizeof(T) == 4, "32-bit values");
  return __builtin_bit_cast(T,
                            twill::run::shuffle(__builtin_bit_cast(uint32_t, value), 0, lane & 31));
}

template <class A, class B>
constexpr std::common_type_t<A, B> min(A a, B b) {
  using T = std::common_type_t<A, B>;
  return static_cast<T>(b) < static_cast<T>(a) ? static_cast<T>(b) : static_cast<T>(a);
}
template <class A, class B>
constexpr std::common_type_t<A, B> max(A a, B b) {
  using T = std::common_type_t<A, B>;
  return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(b) : static_cast<T>(a);
}
inline float __int_as_float(int bits) { return __builtin_bit_cast(float, bits); }
inline int __float_as_int(float number) { return __builtin_bit_cast(int, number); }
inline float __expf(float x) { return expf(x); }
inline float __logf(float x) { return logf(x); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float exp10f(float x) { return powf(10.0F, x); }
inline float rsqrtf(float x) { return 1 / sqrtf(x); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }

/// One thread runs at a time, so an operation is atomic as soon as it is announced.
template <class T>
__forceinline__ T atomicAdd(T* at, T value) {
  twill::run::announce_atomic(at, sizeof(T));
  return twill::run::exchange(at, [value](T old) { return static_cast<T>(old + value); });
}
template <class T>
__forceinline__ T atomicMax(T* at, T value) {
  twill::run::announce_atomic(at, sizeof(T));
  return twill::run::exchange(at, [value](T old) { return old < value ? value : old; });
}
template <class T>
__forceinline__ T atomicMin(T* at, T value) {
  twill::run::announce_atomic(at, sizeof(T));
  return twill::run::exchange(at, [value](T old) { return value < old ? value : old; });
}
__forceinline__ int atomicAnd(int* at, int value) {
  twill::run::announce_atomic(at, sizeof(int));
  return twill::run::exchange(at, [value](int old) { return old & value; });
}
__forceinline__ int atomicOr(int* at, int value) {
  twill::run::announce_atomic(at, sizeof(int));
  return twill::run::exchange(at, [value](int old) { return old | value; });
}
__forceinline__ int atomicXor(int* at, int value) {
  twill::run::announce_atomic(at, sizeof(int));
  return twill::run::exchange(at, [value](int old) { return old ^ value; });
}
