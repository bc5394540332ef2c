// C[M, N] = A[M, K] B[K, N] through pointers, as kernels/gemm/*/ptr_*.ttgir has it: arguments A, B,
// C, M, N, K and the strides of rows. gemm M N K CTAS; exits with 1 where C is wrong.
#include "kernel.h"

int main(int, char** argv) {
  const int m = std::atoi(argv[1]), n = std::atoi(argv[2]), k = std::atoi(argv[3]);
  const unsigned ctas = static_cast<unsigned>(std::atoi(argv[4]));
  const int lda = k + 8, ldb = n + 16, ldc = n + 8;
  const auto filled = [](int count, unsigned seed) {
    auto* all = static_cast<__half*>(std::aligned_alloc(64, (static_cast<std::size_t>(count) * 2 + 127) / 64 * 64));
    for (int i = 0; i < count; ++i) {
      seed = seed * 1664525u + 1013904223u;
      all[i] = __half(static_cast<float>(static_cast<int>(seed >> 24) - 128) / 64.0f);
    }
    return all;
  };
  __half *a = filled(m * lda, 1), *b = filled(k * ldb + 1, 2), *c = filled(m * ldc, 3);
  Arguments args = {};
  args.arg0 = a, args.arg1 = b, args.arg2 = c;
  args.arg3 = m, args.arg4 = n, args.arg5 = k;
  args.arg6 = lda, args.arg7 = ldb, args.arg8 = ldc;
  const int tiles = ((m + 127) / 128) * ((n + 127) / 128);
  args.grid_x = tiles, args.grid_y = 1, args.grid_z = 1;
  args.tiles = tiles;
  host::run({std::min(ctas, static_cast<unsigned>(tiles)), 1, 1}, kThreads, [&] { gemm_ptr(args); });
  int wrong = 0;
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int l = 0; l < k; ++l) sum += static_cast<double>(a[i * lda + l]) * static_cast<double>(b[l * ldb + j]);
      const double got = c[i * ldc + j];
      if (std::abs(got - sum) <= 2e-3 * (1 + std::abs(sum))) continue;
      if (++wrong < 5) std::printf("C[%d, %d] = %g, not %g\n", i, j, got, sum);
    }
  }
  return wrong > 0 ? 1 : 0;
}
