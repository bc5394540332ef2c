#pragma once

#include <algorithm>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <string>

#include "runtime/host.cuh"

using std::max;
using std::min;

namespace twill {

inline unsigned cluster_rank() { return 0; }  // used in kernels only

}  // namespace twill

/// Requests of the launch function to the driver (tests/runtime/host_cuda), as lines. Maps: type,
/// sizes, strides in bytes, box and swizzle, innermost first, and whether they fill with NaN. For a
/// tensor without elements: the value as which it reads (zero, NaN), or that it is written.
/// Launches: grid, and the CTAs of a cluster. Forgets the requests.
extern "C" inline const char* __attribute__((used)) asked() {
  static std::string text;
  text.clear();
  const auto list = [](const auto& numbers) {
    std::string all;
    for (const auto number : numbers) all += " " + std::to_string(number);
    return all;
  };
  const auto empty = [](const void* base) {
    const auto& places = twill::detail::empty_tensors;
    return base == places[0]   ? ", empty: zero"
           : base == places[1] ? ", empty: NaN"
           : base == places[2] ? ", empty: written"
                               : "";
  };
  for (const host_cuda::Encoded& map : host_cuda::encoded) {
    text += std::string("type ") + std::to_string(map.type) + ", sizes" + list(map.sizes) +
            ", strides" + list(map.strides) + ", box" + list(map.box) + ", swizzle " +
            std::to_string(map.swizzle) + (map.nan_outside ? ", NaN outside" : "") +
            empty(map.base) + "\n";
  }
  for (const host_cuda::Launched& launch : host_cuda::launched) {
    text += "grid " + std::to_string(launch.grid.x) + " " + std::to_string(launch.grid.y) + " " +
            std::to_string(launch.grid.z) + ", cluster " + std::to_string(launch.cluster) + "\n";
  }
  host_cuda::encoded.clear();
  host_cuda::launched.clear();
  return text.c_str();
}
