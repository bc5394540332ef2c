#pragma once

#include "runtime/types.cuh"

namespace twill {

template <int Swizzle>
__forceinline__ constexpr int swizzled(int row, int byte) {
  static_assert(Swizzle == 32 || Swizzle == 64 || Swizzle == 128, "a swizzle that wgmma reads");
  const int at = row * Swizzle + byte;
  return at ^ ((at >> 3) & (Swizzle - 16));
}
template <int Bytes>
__forceinline__ void copy_async(void* to, const void* from, bool inside = true) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "what cp.async copies");
  run::copy_async(to, from, Bytes, inside);
}
__forceinline__ void copies_arrive(uint64_t* full) { run::copies_arrive(full); }

}  // namespace twill
