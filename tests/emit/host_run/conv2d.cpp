// y = x * w, 3 x 3, NHWC, stride 1, same padding, as kernels/conv2d has it. conv2d NB H W CI CO
// CTAS; exits with 1 where y is wrong.
#include "check.h"
#include "kernel.h"

int main(int, char** argv) {
  const int nb = std::atoi(argv[1]), h = std::atoi(argv[2]), w = std::atoi(argv[3]);
  const int ci = std::atoi(argv[4]), co = std::atoi(argv[5]);
  const int rows = nb * h * w;
  __half *x = check::filled(rows * ci, 1), *k = check::filled(9 * ci * co, 2);
  __half* y = check::filled(rows * co, 3);
  Arguments args = {};
  args.arg0 = x, args.arg1 = k, args.arg2 = y;
  args.arg3 = nb, args.arg4 = h, args.arg5 = w, args.arg6 = ci, args.arg7 = co;
  args.grid_x = (rows + 127) / 128, args.grid_y = co / 128, args.grid_z = 1;
  const Dim grid = check::grid_of(args, std::atoi(argv[6]));
  host::run(grid, kThreads, [&] { conv2d(args); });
  return check::compare(rows, co, co, y, y, [&](int i, int j) {
    double sum = 0;
    for (int r = 0; r < 3; ++r) {
      for (int s = 0; s < 3; ++s) {
        const int hh = i % (h * w) / w + r - 1, ww = i % w + s - 1;
        if (hh < 0 || hh >= h || ww < 0 || ww >= w) continue;
        const __half* from = x + ((i / (h * w) * h + hh) * w + ww) * ci;
        for (int c = 0; c < ci; ++c) sum += 1.0 * from[c] * k[((r * 3 + s) * ci + c) * co + j];
      }
    }
    return sum;
  });
}
