// C[M, N] = A[M, K] B[K, N] through pointers, the last columns of A first, as counted_down.ttgir
// has it: arguments A, B, C, M, N, K and the strides of rows. counted_down M N K CTAS; exits with 1
// where C is wrong.
#include "check.h"
#include "kernel.h"

int main(int, char** argv) {
  const int m = std::atoi(argv[1]), n = std::atoi(argv[2]), k = std::atoi(argv[3]);
  const int lda = k + 16, ldb = n + 32, ldc = n + 16;
  Arguments args = {};
  args.arg0 = check::filled(m * lda, 1), args.arg1 = check::filled(k * ldb + 1, 2);
  args.arg2 = check::filled(m * ldc, 3);
  args.arg3 = m, args.arg4 = n, args.arg5 = k;
  args.arg6 = lda, args.arg7 = ldb, args.arg8 = ldc;
  args.grid_x = (m + 127) / 128, args.grid_y = (n + 63) / 64, args.grid_z = 1;
  const Dim grid = check::grid_of(args, std::atoi(argv[4]));
  host::run(grid, kThreads, [&] { gemm_down(args); });
  return check::compare(m, n, ldc, args.arg2, check::filled(m * ldc, 3), [&](int i, int j) {
    double sum = 0;
    for (int l = 0; l < k; ++l) sum += 1.0 * args.arg0[i * lda + l] * args.arg1[l * ldb + j];
    return sum;
  });
}
