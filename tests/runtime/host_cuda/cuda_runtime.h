#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda.h>
#include <string_view>
#include <vector>

/// The part of CUDA that the headers under runtime/ need to compile on the host, without a toolkit.
/// It has the names, the numbers of the enumerations (CUDA driver API), and a driver and a launch
/// that only record requests. Functions with PTX are never called here.

using std::uint32_t;
using std::uint64_t;

#define __device__
#define __host__
#define __global__
#define __forceinline__ inline
#define __grid_constant__
#define __align__(bytes) __attribute__((aligned(bytes)))

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
inline dim3 threadIdx(0, 0, 0), blockIdx(0, 0, 0), gridDim;

enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidValue = 1 };
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline const char* cudaGetErrorString(cudaError_t) { return "failed"; }

struct CUstream_st;
using cudaStream_t = CUstream_st*;

/// The device: 132 multiprocessors that hold a CTA each.
enum cudaDeviceAttr {
  cudaDevAttrComputeCapabilityMajor,
  cudaDevAttrComputeCapabilityMinor,
  cudaDevAttrMultiProcessorCount
};
inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
/// Calls that are forbidden during the capture of a stream (cudaMalloc, cudaFree, synchronizations)
/// are missing on purpose. A launch function with such a call does not compile here.

/// The device's primary context, which all threads share.
inline cudaError_t cudaSetDevice(int) {
  static int primary = 0;
  host_cuda::context = reinterpret_cast<CUcontext>(&primary);
  return cudaSuccess;
}
/// Device memory is host memory here.
template <class T>
cudaError_t cudaGetSymbolAddress(void** address, T& symbol) {
  *address = &symbol;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr what, int) {
  *value = what == cudaDevAttrComputeCapabilityMajor   ? 9
           : what == cudaDevAttrComputeCapabilityMinor ? 0
                                                       : 132;
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
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, Kernel, const cudaLaunchConfig_t*) {
  *clusters = 66;
  return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel, int, std::size_t) {
  *blocks = 1;
  return cudaSuccess;
}

namespace host_cuda {

/// All launches so far.
struct Launched {
  dim3 grid;
  unsigned cluster = 1;
};
inline std::vector<Launched> launched;

}  // namespace host_cuda

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*)(Parameters...),
                               Arguments&&...) {
  const bool clusters = config->numAttrs > 0;
  host_cuda::launched.push_back({config->gridDim, clusters ? config->attrs->val.clusterDim.x : 1});
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
  const std::string_view wanted = name;
  *entry = wanted == "cuTensorMapEncodeTiled" ? reinterpret_cast<void*>(&cuTensorMapEncodeTiled)
           : wanted == "cuCtxGetCurrent"      ? reinterpret_cast<void*>(&cuCtxGetCurrent)
                                              : nullptr;
  *found = *entry == nullptr ? cudaDriverEntryPointSymbolNotFound : cudaDriverEntryPointSuccess;
  return cudaSuccess;
}

inline std::size_t __cvta_generic_to_shared(const void* object) {
  return reinterpret_cast<std::size_t>(object);
}
inline std::size_t __cvta_generic_to_global(const void* object) {
  return reinterpret_cast<std::size_t>(object);
}
inline float fmaxf(float a, float b) { return a > b ? a : b; }
inline float __shfl_xor_sync(unsigned, float value, int) { return value; }
