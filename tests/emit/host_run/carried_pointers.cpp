// C[M, N] = A[M, K] B[N, K]^T through pointers that a loop carries, in a loop over tiles that
// Triton flattened, as tests/execute/flat/carried_pointers.sm_90.ttgir has it: arguments A, B, C,
// M, N, K; three CTAs walk tiles of 64 x 32. carried_pointers M N K CTAS; exits with 1 where C is
// wrong.
#include "check.h"
#include "kernel.h"

int main(int, char** argv) {
  const int m = std::atoi(argv[1]), n = std::atoi(argv[2]), k = std::atoi(argv[3]);
  Arguments args = {};
  args.arg0 = check::filled(m * k, 1), args.arg1 = check::filled(n * k, 2);
  args.arg2 = check::filled(m * n, 3);
  args.arg3 = m, args.arg4 = n, args.arg5 = k;
  args.grid_x = std::atoi(argv[4]), args.grid_y = 1, args.grid_z = 1;
  host::run({static_cast<unsigned>(args.grid_x), 1, 1}, kThreads, [&] { carried_pointers(args); });
  return check::compare(m, n, n, args.arg2, check::filled(m * n, 3), [&](int i, int j) {
    double sum = 0;
    for (int l = 0; l < k; ++l) sum += 1.0 * args.arg0[i * k + l] * args.arg1[j * k + l];
    return sum;
  });
}
