#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "execute/running.h"

// Whole kernels compared with their formulas, computed in double precision from the interpreter's
// inputs alone.
namespace twill::execute {
namespace {

using testing::at;

constexpr std::int64_t kFarApart = 1 << 20;  ///< rows of a descriptor's tensor

struct Kernel {
  ir::Program program;
  Memory before{1};
  Memory after{1};
};

Kernel run_kernel(const std::string& name, const Launch& launch,
                  const std::vector<std::array<std::int64_t, 3>>& ids) {
  std::ifstream file(std::string(TWILL_SOURCE_DIR) + "/kernels/" + name + ".pre.ttgir");
  std::stringstream text;
  text << file.rdbuf();
  auto program = frontend::read_ttgir(text.str(), name);
  EXPECT_TRUE(program.has_value()) << to_string(program.error());
  Kernel kernel{*std::move(program)};
  const auto result = testing::run_programs(kernel.program, kernel.after, launch, ids);
  EXPECT_TRUE(result.has_value()) << name << ": " << to_string(result.error());
  const auto arguments =
      arguments_of(kernel.program, ir::functions(kernel.program)[0], launch, kernel.before);
  EXPECT_TRUE(arguments.has_value());
  return kernel;
}

/// Element [row][column] of a descriptor's tensor before the kernel.
double element(const Memory& memory, std::int64_t array, std::int64_t row, std::int64_t column) {
  return at(memory, array, row * kFarApart + column);
}

double written(const Memory& memory, std::int64_t array, std::int64_t row, std::int64_t column) {
  for (const auto& [index, value] : memory.written(static_cast<std::size_t>(array))) {
    if (index == row * kFarApart + column) return value;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

constexpr const char* kArchitectures[] = {"sm_90", "sm_100"};

// Protects: GEMM by TMA (C = A B^T): descriptors, products, both architectures' accumulators.
TEST(Kernels, GemmIsTheFormula) {
  for (const std::string sm : kArchitectures) {
    Launch launch;
    launch.size = 192;
    const Kernel kernel = run_kernel("gemm/" + sm + "/tma_128x128x64", launch, {{1, 0, 0}});
    for (const std::int64_t m : {128, 200, 255}) {
      for (const std::int64_t n : {0, 77, 127}) {
        double sum = 0;
        for (int k = 0; k < 192; ++k) {
          sum += element(kernel.before, 0, m, k) * element(kernel.before, 1, n, k);
        }
        EXPECT_NEAR(written(kernel.after, 2, m, n), sum, 2e-3 * (1 + std::abs(sum))) << sm;
      }
    }
  }
}

/// softmax(scale Q K^T) V of one row and column, over `keys` keys.
double attention(const Memory& memory, std::int64_t row, std::int64_t column, std::int64_t keys,
                 std::int64_t head_size, double scale) {
  double total = 0, weighted = 0;
  for (std::int64_t key = 0; key < keys; ++key) {
    double score = 0;
    for (std::int64_t d = 0; d < head_size; ++d) {
      score += element(memory, 0, row, d) * element(memory, 1, key, d);
    }
    const double weight = std::exp(scale * score);
    total += weight;
    weighted += weight * element(memory, 2, key, column);
  }
  return weighted / total;
}

// Protects: online softmax with its rescaling, reductions, f16 probabilities: plain and sub-tiled.
TEST(Kernels, AttentionIsTheFormula) {
  for (const std::string sm : kArchitectures) {
    for (const std::string& name :
         {std::string("fa_fwd/") + sm + "/d128", "fa_fwd_subtiled/" + sm + "/2x64n128d128"}) {
      Launch launch;
      launch.size = 384;
      const Kernel kernel = run_kernel(name, launch, {{0, 0, 0}});
      for (const std::int64_t row : {0, 63, 127}) {
        for (const std::int64_t column : {0, 100}) {
          EXPECT_NEAR(written(kernel.after, 3, row, column),
                      attention(kernel.before, row, column, 384, 128, 0.125), 2e-3)
              << name;
        }
      }
    }
  }
}

// Protects: the mask, and two loops that pass on their state.
TEST(Kernels, CausalAttentionIsTheFormula) {
  for (const std::string sm : kArchitectures) {
    Launch launch;
    launch.size = 384;
    const Kernel kernel = run_kernel("fa_fwd_causal/" + sm + "/d128", launch, {{2, 0, 0}});
    for (const std::int64_t row : {256, 300, 383}) {
      EXPECT_NEAR(written(kernel.after, 3, row, 5),
                  attention(kernel.before, row, 5, row + 1, 128, 0.125), 2e-3)
          << sm;
    }
  }
}

// Protects: five products, transposed operands, row vectors by pointer, and dQ added to memory.
// Arguments in order: Q K V dO dQ dK dV by descriptor, then pointers: dQ again, row maxima, deltas.
TEST(Kernels, AttentionBackwardIsTheFormula) {
  for (const std::string sm : kArchitectures) {
    Launch launch;
    launch.size = 128;
    const Kernel kernel = run_kernel("fa_bwd/" + sm + "/m64n128d128_tmared", launch, {{0, 0, 0}});
    const Memory& in = kernel.before;
    enum { kQ, kK, kV, kDO, kDQ, kDK, kDV, kUnused, kMax, kDelta };
    const double scale = 0.125;
    const auto dot = [&](int a, std::int64_t row, int b, std::int64_t other) {
      double sum = 0;
      for (int d = 0; d < 128; ++d) sum += element(in, a, row, d) * element(in, b, other, d);
      return sum;
    };
    const auto p = [&](std::int64_t query, std::int64_t key) {
      return std::exp2(dot(kQ, query, kK, key) * scale * std::log2(std::exp(1.0)) -
                       at(in, kMax, query));
    };
    const auto ds = [&](std::int64_t query, std::int64_t key) {
      return p(query, key) * (dot(kDO, query, kV, key) - at(in, kDelta, query));
    };
    for (const std::int64_t key : {3, 99}) {
      double dv = 0, dk = 0;
      for (int query = 0; query < 128; ++query) {
        dv += p(query, key) * element(in, kDO, query, 17);
        dk += ds(query, key) * element(in, kQ, query, 17) * scale;
      }
      EXPECT_NEAR(written(kernel.after, kDV, key, 17), dv, 4e-3 * (1 + std::abs(dv))) << sm;
      EXPECT_NEAR(written(kernel.after, kDK, key, 17), dk, 1e-2 * (1 + std::abs(dk))) << sm;
    }
    for (const std::int64_t query : {0, 127}) {
      double dq = element(in, kDQ, query, 17);
      for (int key = 0; key < 128; ++key) dq += ds(query, key) * element(in, kK, key, 17) * scale;
      EXPECT_NEAR(written(kernel.after, kDQ, query, 17), dq, 1e-2 * (1 + std::abs(dq))) << sm;
    }
  }
}

// Protects: every shipped kernel runs from end to end, so each of its ops is implemented.
TEST(Kernels, AllOfThemRun) {
  Launch launch;
  launch.size = 128;
  launch.programs = {1, 1, 1};
  for (const char* name : {"gemm/sm_90/ptr_128x128x64",
                           "gemm/sm_100/ptr_128x128x64",
                           "gemm_rowsum/sm_90/128x128x64",
                           "gemm_rowsum/sm_100/128x128x64",
                           "gemm_fp8/sm_90/128x256x128",
                           "gemm_fp8/sm_100/128x256x128",
                           "gemm_batched/sm_90/128x128x64",
                           "gemm_batched/sm_100/128x128x64",
                           "gemm_persistent/sm_90/128x128x64_nested",
                           "gemm_persistent/sm_90/128x256x64_flat",
                           "gemm_persistent/sm_100/128x128x64_nested",
                           "gemm_persistent/sm_100/128x256x64_flat",
                           "dual_gemm/sm_90/128x128x64",
                           "dual_gemm/sm_100/128x128x64",
                           "softmax/sm_90/br4bc1024",
                           "softmax/sm_100/br4bc1024",
                           "conv2d/sm_90/3x3_128x128x64",
                           "conv2d/sm_100/3x3_128x128x64",
                           "fa_simple/sm_90/m128n128d128",
                           "fa_simple/sm_100/m128n128d128",
                           "fa_bwd/sm_90/m64n128d128_atomic",
                           "fa_bwd_subtiled/sm_90/m64n2x64d128",
                           "fa_bwd_subtiled/sm_100/m128n2x128d64"}) {
    const Kernel kernel = run_kernel(name, launch, {{0, 0, 0}});
    std::size_t stored = 0, missing = 0;
    for (std::size_t a = 0; a < kernel.after.array_count(); ++a) {
      for (const auto& [index, value] : kernel.after.written(a)) {
        ++stored;
        missing += std::isnan(value) ? 1U : 0U;
      }
    }
    EXPECT_GT(stored, 0U) << name;
    EXPECT_EQ(missing, 0U) << name;
  }
}

}  // namespace
}  // namespace twill::execute
