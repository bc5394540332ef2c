#pragma once

#include <cuda_runtime.h>

/// The runtime of printed kernels on the executor (run.h): the headers of this folder are found in
/// place of those of runtime/, which say what everything means; the others are used as they are.
namespace twill {

__forceinline__ uint32_t shared_address(const void* object) {
  return static_cast<uint32_t>(reinterpret_cast<std::uintptr_t>(object));
}

}  // namespace twill
