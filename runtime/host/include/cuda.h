#pragma once

#include <cstdint>
#include <cstring>

#include "device.h"

/// See cuda_runtime.h. A tensor map holds the parameters of its encoding.

using cuuint32_t = std::uint32_t;
using cuuint64_t = std::uint64_t;

struct alignas(64) CUtensorMap {
  cuuint64_t opaque[16] = {};
};

enum CUresult { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1 };
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

using CUcontext = struct CUctx_st*;
inline CUresult cuCtxGetCurrent(CUcontext* context) {
  static int primary = 0;
  *context = reinterpret_cast<CUcontext>(&primary);
  return CUDA_SUCCESS;
}

inline CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                       void* base, const cuuint64_t* sizes,
                                       const cuuint64_t* strides, const cuuint32_t* box,
                                       const cuuint32_t* steps, CUtensorMapInterleave,
                                       CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                                       CUtensorMapFloatOOBfill outside) {
  if (rank < 1 || rank > 5) return CUDA_ERROR_INVALID_VALUE;
  twill::run::TensorMap it = {};
  it.base = reinterpret_cast<std::uint64_t>(base);
  it.rank = static_cast<std::uint8_t>(rank);
  it.type = type == CU_TENSOR_MAP_DATA_TYPE_FLOAT16    ? 1
            : type == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 ? 2
                                                       : 3;
  for (cuuint32_t i = 0; i < rank; ++i) {
    if (sizes[i] == 0 || sizes[i] > (1ULL << 32) || box[i] == 0 || box[i] > 256 || steps[i] != 1) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    it.largest[i] = static_cast<std::uint32_t>(sizes[i] - 1);
    it.box[i] = static_cast<std::uint16_t>(box[i]);
    if (i + 1 < rank) it.strides[i] = strides[i];
  }
  it.swizzle = swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ? 0 : static_cast<std::uint8_t>(1 << swizzle);
  it.outside = outside == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE ? 0 : 1;
  static_assert(sizeof it <= sizeof(CUtensorMap));
  std::memcpy(static_cast<void*>(map), &it, sizeof it);
  return CUDA_SUCCESS;
}
