#pragma once

#include "runtime/instructions.cuh"
#include "runtime/types.cuh"

/// Tiles of 64 rows x N columns in the registers of a warpgroup, in the layout of wgmma (PTX ISA,
/// "wgmma.mma_async", register fragment of D). Lanes of the first warp that hold each element:
///
///     column    0  1   2  3   4  5   6  7   8  9
///     row 0     lane 0 lane 1 lane 2 lane 3 lane 0 ...      values 0 1, then 4 5
///     row 1     lane 4 lane 5 lane 6 lane 7 lane 4 ...
///     row 8     lane 0 lane 1 ...                           values 2 3, then 6 7
///
/// Thread t = 32 * warp + lane holds N/2 values. Value i = 4j + 2h + e is in row
/// 16 * warp + lane / 4 + 8h and column 8j + 2 * (lane % 4) + e. So a thread has two rows, h = 0
/// and 1, and a row lies in the four lanes of a quad.
namespace twill {

/// The row (0 to 63) of value `i` of `thread` (0 to 127).
__host__ __device__ __forceinline__ constexpr int row_of(int thread, int i) {
  return thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
}

/// The column (0 to N - 1) of that value.
__host__ __device__ __forceinline__ constexpr int column_of(int thread, int i) {
  return i / 4 * 8 + thread % 4 * 2 + i % 2;
}

/// The largest of the quad's four values, in each of its lanes. Called by a whole warp.
__device__ __forceinline__ float quad_max(float value) {
  value = fmaxf(value, __shfl_xor_sync(0xffffffffU, value, 2));
  return fmaxf(value, __shfl_xor_sync(0xffffffffU, value, 1));
}

/// The sum of the quad's four values, in each of its lanes. Called by a whole warp.
__device__ __forceinline__ float quad_sum(float value) {
  value += __shfl_xor_sync(0xffffffffU, value, 2);
  return value + __shfl_xor_sync(0xffffffffU, value, 1);
}

/// Bytes from the panels to the beginning of a row: the row that `thread` gives to stmatrix for the
/// 16 x 16 block at (first_row + 16 * warp, column); see store_fragment.
__host__ __device__ __forceinline__ constexpr uint32_t block_row_offset(int thread, int first_row,
                                                                        uint32_t panel_bytes,
                                                                        int column) {
  const int lane = thread % 32;
  const int row = first_row + thread % 128 / 32 * 16 + lane % 16;
  const int chunk = column % 64 / 8 + lane / 16;
  return static_cast<uint32_t>(column / 64) * panel_bytes +
         static_cast<uint32_t>(row * 128 + (chunk ^ (row % 8)) * 16);
}

namespace detail {

/// The beginning of this lane's row.
__device__ __forceinline__ char* block_row(void* panels, int first_row, uint32_t panel_bytes,
                                           int column) {
  return static_cast<char*>(panels) +
         block_row_offset(thread_here(), first_row, panel_bytes, column);
}

}  // namespace detail

/// Writes packed values of a warpgroup as 16-bit columns 0 to N - 1 of rows first_row to
/// first_row + 63 of a tile in shared memory. The tile consists of panels of 64 columns,
/// `panel_bytes` = rows of the tile * 128 apart; in a panel, row r has 128 bytes, and its 16-byte
/// chunk c is at chunk c ^ (r % 8). TMA with a 128-byte swizzle and wgmma read this form.
///
/// `fragment[Offset]` is the first of N / 4 registers, each with two columns of a row (pack()).
/// `panels` is aligned to 1024 bytes, `first_row` a multiple of 8. Before TMA or wgmma read the
/// tile: fence_proxy_async by all 128 threads, then a barrier. N / 16 stmatrix, no bank conflicts.
template <int N, int Offset = 0, int Size>
__device__ __forceinline__ void store_fragment(void* panels, const uint32_t (&fragment)[Size],
                                               int first_row, uint32_t panel_bytes) {
  static_assert(N % 16 == 0, "whole blocks of 16 columns");
  static_assert(Offset >= 0 && Offset + N / 4 <= Size, "the values lie in the array");
#pragma unroll
  for (int block = 0; block < N / 16; ++block) {
    const int i = Offset + 4 * block;
    stmatrix_x4(detail::block_row(panels, first_row, panel_bytes, 16 * block), fragment[i],
                fragment[i + 1], fragment[i + 2], fragment[i + 3]);
  }
}

/// The same for an accumulator: `fragment[Offset]` is the first of N / 2 values, rounded to T.
template <int N, int Offset = 0, class T, int Size>
__device__ __forceinline__ void store_fragment(T* panels, const float (&fragment)[Size],
                                               int first_row, uint32_t panel_bytes) {
  static_assert(N % 16 == 0, "whole blocks of 16 columns");
  static_assert(Offset >= 0 && Offset + N / 2 <= Size, "the values lie in the array");
#pragma unroll
  for (int block = 0; block < N / 16; ++block) {
    const int i = Offset + 8 * block;
    stmatrix_x4(detail::block_row(panels, first_row, panel_bytes, 16 * block),
                pack<T>(fragment[i], fragment[i + 1]), pack<T>(fragment[i + 2], fragment[i + 3]),
                pack<T>(fragment[i + 4], fragment[i + 5]),
                pack<T>(fragment[i + 6], fragment[i + 7]));
  }
}

/// Bytes from the panels to the 32-bit columns `column` (even) and `column` + 1 of `row`; see
/// store_words.
__host__ __device__ __forceinline__ constexpr uint32_t word_offset(int row, uint32_t panel_bytes,
                                                                   int column) {
  const int chunk = column % 32 / 4 ^ row % 8;
  return static_cast<uint32_t>(column / 32) * panel_bytes +
         static_cast<uint32_t>(row * 128 + chunk * 16 + column % 4 * 4);
}

/// Writes an accumulator of a warpgroup as 32-bit columns 0 to N - 1 of 64 rows of a tile in shared
/// memory, from first_row on. A panel of 128 bytes has 32 columns; otherwise as in store_fragment.
/// `fragment[Offset]` is the first of N / 2 values.
template <int N, int Offset = 0, class T, int Size>
__device__ __forceinline__ void store_words(void* panels, const T (&fragment)[Size], int first_row,
                                            uint32_t panel_bytes) {
  static_assert(sizeof(T) == 4 && N % 32 == 0, "whole panels of 32-bit values");
  static_assert(Offset >= 0 && Offset + N / 2 <= Size, "the values lie in the array");
  struct __align__(8) Pair {
    T first, second;
  };
#pragma unroll
  for (int i = 0; i < N / 2; i += 2) {
    const int row = first_row + row_of(thread_here() % 128, i);
    *reinterpret_cast<Pair*>(static_cast<char*>(panels) +
                             word_offset(row, panel_bytes, column_of(thread_here() % 128, i))) = {
        fragment[Offset + i], fragment[Offset + i + 1]};
  }
}

}  // namespace twill
