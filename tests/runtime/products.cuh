#pragma once

// TMA load and wgmma: a part of primitives.cu.

#include "runtime/barrier.cuh"
#include "runtime/fragment.cuh"
#include "runtime/role.cuh"
#include "runtime/tma.cuh"
#include "runtime/wgmma.cuh"
#include "tests/runtime/device_check.cuh"

namespace {

using twill::Major;

/// A barrier for one TMA batch of thread 0, and the parity that all threads wait with.
__device__ void begin_load(uint64_t* full, uint32_t bytes) {
  twill::barrier_init(full, 1);
  twill::barrier_init_fence();
  twill::barrier_expect(full, bytes);
}

__host__ __device__ constexpr int panels_of(int columns) { return (columns + 63) / 64; }

/// D (64 x N) = A (64 x K) * B (K x N), by one warpgroup. Where A is Major::k it is a row-major
/// 64 x K matrix, else a row-major K x 64 one; B is N x K or K x N likewise. A comes from registers
/// if `FromRegisters`.
template <int N, int K, class T, Major A, Major B, bool FromRegisters>
__global__ void __launch_bounds__(128, 1)
    product(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
            const T* a_rows, float* out) {
  extern __shared__ __align__(1024) char smem[];
  __shared__ uint64_t full;
  constexpr int kARows = A == Major::k ? 64 : K;
  constexpr int kAPanels = A == Major::k ? K / 64 : 1;
  constexpr int kBRows = B == Major::k ? N : K;
  constexpr int kBPanels = B == Major::k ? K / 64 : panels_of(N);
  constexpr int kBPanelBytes = (kBRows * 128 + 1023) / 1024 * 1024;
  char* b_tile = smem + kAPanels * kARows * 128;
  const int thread = twill::thread_in_warpgroup();
  if (thread == 0) {
    begin_load(&full, kAPanels * kARows * 128 + kBPanels * kBRows * 128);
    for (int p = 0; p < kAPanels; ++p) {
      twill::tma_load(smem + p * kARows * 128, &map_a, &full, p * 64, 0);
    }
    for (int p = 0; p < kBPanels; ++p) {
      twill::tma_load(b_tile + p * kBPanelBytes, &map_b, &full, p * 64, 0);
    }
  }
  __syncthreads();
  twill::barrier_wait(&full, 0);

  uint32_t a[K / 4] = {};
  if constexpr (FromRegisters) {
#pragma unroll
    for (int i = 0; i < K / 2; i += 2) {
      const T* pair = a_rows + twill::row_of(thread, i) * K + twill::column_of(thread, i);
      a[i / 2] = twill::pack<T>(static_cast<float>(pair[0]), static_cast<float>(pair[1]));
    }
  }
  float d[N / 2];
  const uint64_t a_operand = twill::operand(smem, 0, 1024, 128);
  const uint64_t b_operand = twill::operand(b_tile, kBPanelBytes, 1024, 128);
  twill::wgmma_fence();
#pragma unroll
  for (int k = 0; k < K; k += 16) {
    const uint64_t a_step =
        twill::advance(a_operand, A == Major::k ? k / 64 * kARows * 128 + k % 64 * 2 : k * 128);
    const uint64_t b_step =
        twill::advance(b_operand, B == Major::k ? k / 64 * kBPanelBytes + k % 64 * 2 : k * 128);
    if constexpr (FromRegisters) {
      twill::wgmma_rs<N, T, B>(d, a, k / 4, b_step, k != 0);
    } else {
      twill::wgmma_ss<N, T, A, B>(d, a_step, b_step, k != 0);
    }
  }
  twill::wgmma_commit();
  twill::wgmma_wait<0>();
  twill::settle(d);
#pragma unroll
  for (int i = 0; i < N / 2; ++i) {
    out[twill::row_of(thread, i) * N + twill::column_of(thread, i)] = d[i];
  }
}

template <class T>
std::vector<T> transposed(const std::vector<T>& matrix, int rows, int columns) {
  std::vector<T> result(matrix.size());
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) result[c * rows + r] = matrix[r * columns + c];
  }
  return result;
}

/// a (m x k) times the transpose of b (n x k).
template <class T>
std::vector<float> reference(const std::vector<T>& a, const std::vector<T>& b, int m, int n,
                             int k) {
  const std::vector<float> left(a.begin(), a.end());
  const std::vector<float> right(b.begin(), b.end());
  std::vector<float> d(static_cast<std::size_t>(m) * n);
  for (int i = 0; i < m * n; ++i) {
    for (int x = 0; x < k; ++x) d[i] += left[i / n * k + x] * right[i % n * k + x];
  }
  return d;
}

template <int N, int K, class T, Major A, Major B, bool FromRegisters>
bool check_product() {
  const std::vector<T> a = check::small_integers<T>(64 * K, N);
  const std::vector<T> b = check::small_integers<T>(N * K, N + 1);
  const check::Buffer<T> a_rows(a);
  const check::Buffer<T> a_stored(A == Major::k ? a : transposed(a, 64, K));
  const check::Buffer<T> b_stored(B == Major::k ? b : transposed(b, N, K));
  const check::Buffer<float> out(std::vector<float>(64 * N, -1e30F));
  const CUtensorMap map_a = A == Major::k ? check::matrix_map(a_stored.data(), 64, K, 64, 64, 128)
                                          : check::matrix_map(a_stored.data(), K, 64, K, 64, 128);
  const CUtensorMap map_b = B == Major::k ? check::matrix_map(b_stored.data(), N, K, N, 64, 128)
                                          : check::matrix_map(b_stored.data(), K, N, K, 64, 128);
  twill::Launch how;
  how.threads = 128;
  how.shared_bytes = 64 * K * 2 + K * 2 * 256 + 8192;
  check::run("wgmma", product<N, K, T, A, B, FromRegisters>, how, map_a, map_b, a_rows.data(),
             out.data());
  char what[64];
  std::snprintf(what, sizeof what, "m64n%d, K %d", N, K);
  return check::same(out.read(), reference(a, b, 64, N, K), what);
}

template <class T, int K, Major A, Major B, bool FromRegisters, int... N>
void check_products(const char* what) {
  const bool good = (check_product<N, K, T, A, B, FromRegisters>() & ...);
  check::report(good, what);
}

template <class T, int K>
void check_all_products(const char* type) {
  const auto named = [&](const char* what) {
    static char text[80];
    std::snprintf(text, sizeof text, "TMA load, wgmma %s, K %d: %s", type, K, what);
    return text;
  };
  check_products<T, K, Major::k, Major::k, false, 8, 24, 64, 96, 128, 176, 192, 256>(
      named("A and B k-major"));
  check_products<T, K, Major::k, Major::mn, false, 64, 128, 192, 256>(named("B n-major"));
  check_products<T, K, Major::mn, Major::k, false, 8, 64, 128, 256>(named("A m-major"));
  check_products<T, K, Major::mn, Major::mn, false, 64, 128, 256>(named("A m-major, B n-major"));
  check_products<T, K, Major::k, Major::k, true, 8, 64, 128, 176, 256>(
      named("A in registers, B k-major"));
  check_products<T, K, Major::k, Major::mn, true, 64, 128, 192, 256>(
      named("A in registers, B n-major"));
  check_products<T, K, Major::k, Major::mn, false, 8, 40, 96, 176>(
      named("B n-major, N no multiple of 64"));
}

}  // namespace
