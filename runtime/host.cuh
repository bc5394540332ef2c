#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

/// The host's side of a kernel: tensor maps and launches. Every function that can fail returns the
/// reason as a text that lives forever, or nullptr. Links with the CUDA runtime alone; the driver's
/// functions are looked up by name.
namespace twill {

/// The text of the failure of a runtime call, or nullptr. Clears the error.
inline const char* failure(cudaError_t error) {
  if (error == cudaSuccess) return nullptr;
  cudaGetLastError();
  return cudaGetErrorString(error);
}

namespace detail {

/// A function of the driver that exists since CUDA 12.0 or earlier, or nullptr. `Pointer`: type of
/// a pointer to the function.
template <class Pointer>
Pointer driver_function(const char* name) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &entry, 12000, cudaEnableDefault, &found);
  if (failure(error) != nullptr || found != cudaDriverEntryPointSuccess) return nullptr;
  return reinterpret_cast<Pointer>(entry);
}

/// Gives a host thread without a CUDA context the device's primary context. The driver's functions
/// need one, and only the runtime's functions make it current on their own. A context that the
/// thread has stays. Since CUDA 12.0 cudaSetDevice does so at once; unlike cudaFree(0), it may be
/// called while a stream is captured.
inline const char* make_context_current(int device) {
  CUcontext context = nullptr;
  const auto current = driver_function<decltype(&cuCtxGetCurrent)>("cuCtxGetCurrent");
  if (current != nullptr && current(&context) == CUDA_SUCCESS && context != nullptr) return nullptr;
  return failure(cudaSetDevice(device));
}

}  // namespace detail

/// Whether the current device can run code for sm_90a. Also gives the calling thread a context.
inline const char* check_device() {
  int device = 0;
  int major = 0;
  int minor = 0;
  if (const char* wrong = failure(cudaGetDevice(&device))) return wrong;
  if (const char* wrong = detail::make_context_current(device)) return wrong;
  const cudaError_t error =
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  if (const char* wrong = failure(error)) return wrong;
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  return major == 9 && minor == 0 ? nullptr
                                  : "the kernel is for GPUs of compute capability 9.0 (Hopper)";
}

/// The driver's name of an element type: __half, __nv_bfloat16 or float.
template <class T>
constexpr CUtensorMapDataType map_type();
template <>
constexpr CUtensorMapDataType map_type<__half>() {
  return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
}
template <>
constexpr CUtensorMapDataType map_type<__nv_bfloat16>() {
  return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
}
template <>
constexpr CUtensorMapDataType map_type<float>() {
  return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
}

namespace detail {

/// Bytes of an element of the types of map_type; 0 for other types.
inline std::uint32_t map_element_bytes(CUtensorMapDataType type) {
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
      return 2;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
      return 4;
    default:
      return 0;
  }
}

inline const char* check_tensor_map(CUtensorMapDataType type, int rank, const void* base,
                                    const std::uint64_t* sizes, const std::uint64_t* strides_bytes,
                                    const std::uint32_t* box, int swizzle_bytes) {
  const std::uint32_t bytes = map_element_bytes(type);
  if (bytes == 0) return "tensor map: the element type is not fp16, bf16 or fp32";
  if (rank < 1 || rank > 5) return "tensor map: a tensor has 1 to 5 dimensions";
  if (base == nullptr) return "tensor map: the tensor's address is null";
  if (reinterpret_cast<std::uintptr_t>(base) % 16 != 0) {
    return "tensor map: the tensor's address is not a multiple of 16 bytes";
  }
  if (swizzle_bytes != 0 && swizzle_bytes != 32 && swizzle_bytes != 64 && swizzle_bytes != 128) {
    return "tensor map: the swizzle is 0, 32, 64 or 128 bytes";
  }
  for (int i = 0; i < rank; ++i) {
    if (sizes[i] == 0) return "tensor map: a dimension of the tensor has size 0";
    if (sizes[i] > (1ULL << 32)) return "tensor map: a dimension of the tensor exceeds 2^32";
    if (box[i] == 0 || box[i] > 256) return "tensor map: a box has 1 to 256 elements a dimension";
  }
  for (int i = 0; i + 1 < rank; ++i) {
    if (strides_bytes[i] % 16 != 0) {
      return "tensor map: a stride of the tensor is not a multiple of 16 bytes";
    }
    if (strides_bytes[i] >= (1ULL << 40)) return "tensor map: a stride of the tensor exceeds 2^40";
  }
  const std::uint32_t inner = box[0] * bytes;
  if (inner % 16 != 0) return "tensor map: a row of the box is not a multiple of 16 bytes";
  if (swizzle_bytes != 0 && inner > static_cast<std::uint32_t>(swizzle_bytes)) {
    return "tensor map: a row of the box is longer than the swizzle";
  }
  return nullptr;
}

}  // namespace detail

/// Describes a tensor in global memory and the box that one copy moves.
///
/// Dimension 0 is contiguous. `sizes[rank]` in elements; `strides_bytes[rank - 1]`, where
/// strides_bytes[i] is the distance of neighbours in dimension i + 1; `box[rank]` in elements;
/// `swizzle_bytes` 0, 32, 64 or 128; `outside`: whether elements outside the tensor read as zero
/// or as NaN. The tensor need not exist yet. Source: CUDA driver API, cuTensorMapEncodeTiled.
inline const char* encode_tensor_map(
    CUtensorMap* map, CUtensorMapDataType type, int rank, void* base, const std::uint64_t* sizes,
    const std::uint64_t* strides_bytes, const std::uint32_t* box, int swizzle_bytes,
    CUtensorMapFloatOOBfill outside = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) {
  if (const char* wrong =
          detail::check_tensor_map(type, rank, base, sizes, strides_bytes, box, swizzle_bytes)) {
    return wrong;
  }
  const auto encode =
      detail::driver_function<decltype(&cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
  if (encode == nullptr) {
    return "tensor map: this driver has no cuTensorMapEncodeTiled (CUDA 12.0 or later is needed)";
  }

  cuuint64_t global[5] = {};
  cuuint64_t strides[5] = {};
  cuuint32_t extent[5] = {};
  const cuuint32_t ones[5] = {1, 1, 1, 1, 1};
  for (int i = 0; i < rank; ++i) {
    global[i] = sizes[i];
    extent[i] = box[i];
    if (i + 1 < rank) strides[i] = strides_bytes[i];
  }
  const CUtensorMapSwizzle swizzle = swizzle_bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                     : swizzle_bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                     : swizzle_bytes == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                           : CU_TENSOR_MAP_SWIZZLE_NONE;
  const CUresult result =
      encode(map, type, static_cast<cuuint32_t>(rank), base, global, strides, extent, ones,
             CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, outside);
  return result == CUDA_SUCCESS ? nullptr : "tensor map: the driver refuses it";
}

/// A kernel's use of a map.
enum class MapUse { loads, writes };

namespace detail {

/// Stand-ins for tensors without elements, 16 bytes each, in the memory of every device. Zeros and
/// NaNs (for every type of map_type) are only read; the sink is only written.
enum : int { kEmptyZeros, kEmptyNans, kEmptySink };
static __device__ __align__(16) std::uint32_t empty_tensors[3][4] = {
    {0, 0, 0, 0}, {~0u, ~0u, ~0u, ~0u}, {0, 0, 0, 0}};

/// Encodes a map for a tensor without elements. A map needs at least one element in each dimension,
/// and the device has limits for addresses and strides. So the map has a stand-in with a single
/// element, and all other coordinates are outside of it. The element has the value of elements
/// outside; writes to it are never read.
inline const char* encode_empty(CUtensorMap* map, CUtensorMapDataType type, int rank,
                                const std::uint32_t* box, int swizzle_bytes, MapUse use,
                                CUtensorMapFloatOOBfill outside) {
  void* base = nullptr;
  if (const char* wrong = failure(cudaGetSymbolAddress(&base, empty_tensors))) return wrong;
  const bool nans = outside == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  const int which = use == MapUse::writes ? kEmptySink : nans ? kEmptyNans : kEmptyZeros;
  const std::uint64_t sizes[5] = {1, 1, 1, 1, 1};
  const std::uint64_t strides[4] = {16, 16, 16, 16};
  return encode_tensor_map(map, type, rank, static_cast<char*>(base) + 16 * which, sizes, strides,
                           box, swizzle_bytes, outside);
}

}  // namespace detail

/// Describes a tensor as encode_tensor_map does, also a tensor without elements. Its address and
/// strides are then ignored. All reads have the value of elements outside, and no write reaches
/// memory. Such a map may be used for loads or for stores and reductions, not for both.
inline const char* describe(CUtensorMap* map, CUtensorMapDataType type, int rank, void* base,
                            const std::uint64_t* sizes, const std::uint64_t* strides_bytes,
                            const std::uint32_t* box, int swizzle_bytes, MapUse use,
                            CUtensorMapFloatOOBfill outside = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) {
  for (int i = 0; i < rank; ++i) {
    if (sizes[i] == 0)
      return detail::encode_empty(map, type, rank, box, swizzle_bytes, use, outside);
  }
  return encode_tensor_map(map, type, rank, base, sizes, strides_bytes, box, swizzle_bytes,
                           outside);
}

/// Parameters of a launch.
struct Launch {
  dim3 grid = 1;         ///< CTAs; grid.x is a multiple of `cluster`
  int threads = 0;       ///< threads of a CTA
  int cluster = 1;       ///< CTAs of a cluster, along x
  int shared_bytes = 0;  ///< dynamic shared memory of a CTA
  cudaStream_t stream = nullptr;
};

namespace detail {

inline cudaLaunchConfig_t config_of(const Launch& how, cudaLaunchAttribute* cluster) {
  cudaLaunchConfig_t config = {};
  config.gridDim = how.grid;
  config.blockDim = dim3(static_cast<unsigned>(how.threads));
  config.dynamicSmemBytes = static_cast<std::size_t>(how.shared_bytes);
  config.stream = how.stream;
  cluster->id = cudaLaunchAttributeClusterDimension;
  cluster->val.clusterDim.x = static_cast<unsigned>(how.cluster);
  cluster->val.clusterDim.y = 1;
  cluster->val.clusterDim.z = 1;
  config.attrs = cluster;
  config.numAttrs = how.cluster > 1 ? 1 : 0;
  return config;
}

template <class... Parameters>
const char* allow_shared(void (*kernel)(Parameters...), int bytes) {
  return failure(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                      cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
}

}  // namespace detail

/// Number of CTAs of such a launch that the current device can hold at once: the grid of a
/// persistent kernel. `how.grid` is ignored.
template <class... Parameters>
const char* resident_ctas(int* ctas, void (*kernel)(Parameters...), const Launch& how) {
  if (const char* wrong = detail::allow_shared(kernel, how.shared_bytes)) return wrong;
  Launch one = how;
  one.grid = dim3(static_cast<unsigned>(how.cluster));
  cudaLaunchAttribute cluster;
  const cudaLaunchConfig_t config = detail::config_of(one, &cluster);
  if (how.cluster > 1) {
    int clusters = 0;
    const cudaError_t error = cudaOccupancyMaxActiveClusters(&clusters, kernel, &config);
    if (const char* wrong = failure(error)) return wrong;
    *ctas = clusters * how.cluster;
  } else {
    int device = 0;
    int processors = 0;
    int per_processor = 0;
    if (const char* wrong = failure(cudaGetDevice(&device))) return wrong;
    cudaError_t error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (const char* wrong = failure(error)) return wrong;
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, kernel, how.threads,
                                                          config.dynamicSmemBytes);
    if (const char* wrong = failure(error)) return wrong;
    *ctas = processors * per_processor;
  }
  return *ctas > 0 ? nullptr : "the device cannot hold one CTA (or cluster) of the kernel";
}

/// Launches the kernel without waiting. A fault of the kernel itself shows at the next
/// synchronization.
template <class... Parameters, class... Arguments>
const char* launch(void (*kernel)(Parameters...), const Launch& how, Arguments&&... arguments) {
  if (how.cluster < 1 || how.grid.x % static_cast<unsigned>(how.cluster) != 0) {
    return "launch: the grid is not a multiple of the cluster";
  }
  if (how.grid.x == 0 || how.grid.y == 0 || how.grid.z == 0) return nullptr;  // nothing to do
  if (const char* wrong = detail::allow_shared(kernel, how.shared_bytes)) return wrong;
  cudaLaunchAttribute cluster;
  const cudaLaunchConfig_t config = detail::config_of(how, &cluster);
  return failure(cudaLaunchKernelEx(&config, kernel, static_cast<Arguments&&>(arguments)...));
}

}  // namespace twill
