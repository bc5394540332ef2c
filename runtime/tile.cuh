#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "runtime/fragment.cuh"
#include "runtime/types.cuh"

/// Arithmetic on the elements of tiles, and functions that move a fragment (runtime/fragment.cuh)
/// between registers and shared memory without wgmma and TMA.
namespace twill {

__device__ __forceinline__ float infinity() { return __int_as_float(0x7f800000); }
__device__ __forceinline__ float not_a_number() { return __int_as_float(0x7fffffff); }

/// Iterations of a loop from `lower` below `upper` by `step` > 0.
__device__ __forceinline__ int trip_count(int lower, int upper, int step) {
  return upper > lower ? (upper - lower - 1) / step + 1 : 0;
}

/// The program ids of a CTA with a single tile.
struct BlockIds {
  int x, y, z;
};
__device__ __forceinline__ BlockIds block_ids() {
  return {static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y), static_cast<int>(blockIdx.z)};
}

/// Row of the first value that a thread holds of a 64-row fragment, and its column; see row_of.
__device__ __forceinline__ int fragment_row() {
  const int thread = thread_here();
  return thread % 128 / 32 * 16 + thread % 32 / 4;
}
__device__ __forceinline__ int fragment_column() { return thread_here() % 4 * 2; }

/// Element 0 (low half) or 1 of a packed pair.
template <class T>
__device__ __forceinline__ T unpack(uint32_t pair, int element);
template <>
__device__ __forceinline__ __half unpack<__half>(uint32_t pair, int element) {
  return __ushort_as_half(static_cast<unsigned short>(pair >> (16 * element)));
}
template <>
__device__ __forceinline__ __nv_bfloat16 unpack<__nv_bfloat16>(uint32_t pair, int element) {
  return __ushort_as_bfloat16(static_cast<unsigned short>(pair >> (16 * element)));
}

/// Two elements as a pair, unchanged.
__device__ __forceinline__ uint32_t pack_bits(__half low, __half high) {
  return __half_as_ushort(low) | static_cast<uint32_t>(__half_as_ushort(high)) << 16;
}
__device__ __forceinline__ uint32_t pack_bits(__nv_bfloat16 low, __nv_bfloat16 high) {
  return __bfloat16_as_ushort(low) | static_cast<uint32_t>(__bfloat16_as_ushort(high)) << 16;
}

/// Exchanges columns among the lanes of a quad. Before, each lane has its two columns of four
/// neighbouring groups of 8 of a row, in the layout of wgmma, as packed pairs. After, lane l has
/// the 8 columns of group l. Called by a whole warp; 4 shuffles.
__device__ __forceinline__ void exchange_columns(uint32_t (&pairs)[4]) {
  const int lane = thread_here() % 4;
  const bool odd = lane % 2 != 0, high = lane / 2 != 0;
#pragma unroll
  for (int i = 0; i < 4; i += 2) {
    const uint32_t other = __shfl_xor_sync(0xffffffffU, odd ? pairs[i] : pairs[i + 1], 1);
    pairs[i] = odd ? other : pairs[i];
    pairs[i + 1] = odd ? pairs[i + 1] : other;
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const uint32_t other = __shfl_xor_sync(0xffffffffU, high ? pairs[i] : pairs[i + 2], 2);
    pairs[i] = high ? other : pairs[i];
    pairs[i + 2] = high ? pairs[i + 2] : other;
  }
}

/// Stores neighbours at once; `to` is aligned to their bytes together: 2, 4, 8 or 16.
template <class T, int Size>
__device__ __forceinline__ void store_columns(void* to, const T (&columns)[Size]) {
  struct alignas(Size * sizeof(T)) Piece {
    T columns[Size];
  };
  Piece piece;
#pragma unroll
  for (int i = 0; i < Size; ++i) piece.columns[i] = columns[i];
  *static_cast<Piece*>(to) = piece;
}

/// Inverse of store_fragment: loads 64 rows x N columns of a tile in 128-byte panels into N / 4
/// packed registers, from fragment[Offset] on. Called by a whole warpgroup; N / 16 ldmatrix (PTX
/// ISA, "ldmatrix"), no bank conflicts.
template <int N, int Offset = 0, int Size>
__device__ __forceinline__ void load_fragment(uint32_t (&fragment)[Size], const void* panels,
                                              int first_row, uint32_t panel_bytes) {
  static_assert(N % 16 == 0, "whole blocks of 16 columns");
  static_assert(Offset >= 0 && Offset + N / 4 <= Size, "the values lie in the array");
#pragma unroll
  for (int block = 0; block < N / 16; ++block) {
    const int i = Offset + 4 * block;
    ldmatrix_x4(fragment[i], fragment[i + 1], fragment[i + 2], fragment[i + 3],
                detail::block_row(const_cast<void*>(panels), first_row, panel_bytes, 16 * block));
  }
}

/// Copies a thread's registers into a staging buffer and back, for a role that holds the same
/// fragment. Pieces of 16 bytes of the 128 threads lie side by side, so that no banks conflict.
/// `values` is an array of 32-bit values; `at` is aligned to 16 bytes and has Size * 512 bytes.
template <class T, int Size>
__device__ __forceinline__ void stage(void* at, const T (&values)[Size]) {
  static_assert(sizeof(T) == 4, "32-bit values");
  const int thread = thread_here() % 128;
  T* words = static_cast<T*>(at);
#pragma unroll
  for (int i = 0; i < Size / 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) words[(i * 128 + thread) * 4 + j] = values[4 * i + j];
  }
#pragma unroll
  for (int i = Size / 4 * 4; i < Size; ++i) words[i * 128 + thread] = values[i];
}

template <class T, int Size>
__device__ __forceinline__ void read_staged(const void* at, T (&values)[Size]) {
  static_assert(sizeof(T) == 4, "32-bit values");
  const int thread = thread_here() % 128;
  const T* words = static_cast<const T*>(at);
#pragma unroll
  for (int i = 0; i < Size / 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) values[4 * i + j] = words[(i * 128 + thread) * 4 + j];
  }
#pragma unroll
  for (int i = Size / 4 * 4; i < Size; ++i) values[i] = words[i * 128 + thread];
}

}  // namespace twill
