#pragma once

#include <cstdint>
#include <vector>

/// See cuda_runtime.h.

using cuuint32_t = std::uint32_t;
using cuuint64_t = std::uint64_t;

struct alignas(64) CUtensorMap {
  cuuint64_t opaque[16] = {};
};

enum CUresult { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_CONTEXT = 201 };
using CUcontext = struct CUctx_st*;
enum CUtensorMapDataType {
  CU_TENSOR_MAP_DATA_TYPE_FLOAT16 = 6,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT32 = 7,
  CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 = 9
};
enum CUtensorMapInterleave { CU_TENSOR_MAP_INTERLEAVE_NONE = 0 };
enum CUtensorMapSwizzle {
  CU_TENSOR_MAP_SWIZZLE_NONE = 0,
  CU_TENSOR_MAP_SWIZZLE_32B = 1,
  CU_TENSOR_MAP_SWIZZLE_64B = 2,
  CU_TENSOR_MAP_SWIZZLE_128B = 3
};
enum CUtensorMapL2promotion { CU_TENSOR_MAP_L2_PROMOTION_L2_256B = 3 };
enum CUtensorMapFloatOOBfill {
  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0,
  CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA = 1
};

namespace host_cuda {

/// Source of a map.
struct Encoded {
  int type = 0;
  const void* base = nullptr;
  std::vector<cuuint64_t> sizes, strides;
  std::vector<cuuint32_t> box, steps;
  int swizzle = 0;
  bool nan_outside = false;
};

/// All maps so far.
inline std::vector<Encoded> encoded;

/// Context of the calling thread: null before the thread's first call that makes one.
inline thread_local CUcontext context = nullptr;

}  // namespace host_cuda

inline CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = host_cuda::context;
  return CUDA_SUCCESS;
}

inline CUresult cuTensorMapEncodeTiled(CUtensorMap*, CUtensorMapDataType type, cuuint32_t rank,
                                       void* base, const cuuint64_t* sizes,
                                       const cuuint64_t* strides, const cuuint32_t* box,
                                       const cuuint32_t* steps, CUtensorMapInterleave,
                                       CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                                       CUtensorMapFloatOOBfill outside) {
  if (host_cuda::context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  host_cuda::encoded.push_back({type,
                                base,
                                {sizes, sizes + rank},
                                {strides, strides + rank - 1},
                                {box, box + rank},
                                {steps, steps + rank},
                                swizzle,
                                outside != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE});
  return CUDA_SUCCESS;
}
