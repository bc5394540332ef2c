#pragma once

#include <cuda_runtime.h>

/// The runtime of printed kernels on the executor (run.h). Headers of this folder replace the same
/// headers of runtime/, which document all functions; the other headers are used unchanged.
namespace twill {

__forceinline__ uint32_t shared_address(const void* object) {
  return static_cast<uint32_t>(reinterpret_cast<std::uintptr_t>(object));
}

}  // namespace twill
