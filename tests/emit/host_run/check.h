#pragma once

#include "host_runtime.h"

namespace check {

/// `count` numbers between -2 and 2, aligned as device memory is.
inline __half* filled(int count, unsigned seed) {
  const auto bytes = (static_cast<std::size_t>(count) * 2 + 127) / 64 * 64;
  auto* all = static_cast<__half*>(std::aligned_alloc(64, bytes));
  for (int i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    all[i] = __half(static_cast<float>(static_cast<int>(seed >> 24) - 128) / 64.0f);
  }
  return all;
}

/// `ctas` CTAs that walk the tiles, or where the kernel has one tile for each CTA, one for each
/// tile.
template <class Arguments>
Dim grid_of(Arguments& args, int ctas) {
  if constexpr (requires { args.tiles; }) {
    args.tiles = args.grid_x * args.grid_y * args.grid_z;
    return {static_cast<unsigned>(std::min(ctas, args.tiles)), 1, 1};
  } else {
    return {static_cast<unsigned>(args.grid_x), static_cast<unsigned>(args.grid_y),
            static_cast<unsigned>(args.grid_z)};
  }
}

/// 1 and the first few differences if a rows x columns matrix is not what `wanted` says, or if
/// there is not `before` between its rows, else 0.
template <class T, class Wanted>
int compare(int rows, int columns, int stride, const T* got, const T* before, Wanted wanted) {
  int wrong = 0;
  for (int i = 0; i < rows; ++i) {
    for (int j = columns; j < stride; ++j) {
      if (std::memcmp(got + i * stride + j, before + i * stride + j, sizeof(T)) == 0) continue;
      if (++wrong < 5) std::printf("[%d, %d] is not of the matrix, and is written\n", i, j);
    }
    for (int j = 0; j < columns; ++j) {
      const double here = got[i * stride + j], there = wanted(i, j);
      if (std::abs(here - there) <= 2e-3 * (1 + std::abs(there))) continue;
      if (++wrong < 5) std::printf("[%d, %d] is %g, not %g\n", i, j, here, there);
    }
  }
  return wrong > 0 ? 1 : 0;
}

}  // namespace check
