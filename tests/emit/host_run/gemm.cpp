// C[M, N] = A[M, K] B[K, N] through pointers, as kernels/gemm/*/ptr_*.ttgir has it: arguments A, B,
// C, M, N, K and the strides of rows; a tile has 128 rows and COLUMNS columns.
// gemm M N K CTAS [COLUMNS]; exits with 1 where C is wrong.
#include "check.h"
#include "kernel.h"

int main(int argc, char** argv) {
  const int m = std::atoi(argv[1]), n = std::atoi(argv[2]), k = std::atoi(argv[3]);
  const int columns = argc > 5 ? std::atoi(argv[5]) : 128;
  const int lda = k + 16, ldb = n + 16, ldc = n + 16;
  __half *a = check::filled(m * lda, 1), *b = check::filled(k * ldb + 1, 2);
  __half* c = check::filled(m * ldc, 3);
  Arguments args = {};
  args.arg0 = a, args.arg1 = b, args.arg2 = c;
  args.arg3 = m, args.arg4 = n, args.arg5 = k;
  args.arg6 = lda, args.arg7 = ldb, args.arg8 = ldc;
  args.grid_x = ((m + 127) / 128) * ((n + columns - 1) / columns), args.grid_y = 1, args.grid_z = 1;
  const Dim grid = check::grid_of(args, std::atoi(argv[4]));
  host::run(grid, kThreads, [&] { gemm_ptr(args); });
  return check::compare(m, n, ldc, c, check::filled(m * ldc, 3), [&](int i, int j) {
    double sum = 0;
    for (int l = 0; l < k; ++l) sum += 1.0 * a[i * lda + l] * b[l * ldb + j];
    return sum;
  });
}
