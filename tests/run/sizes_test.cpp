#include "twill/run/sizes.h"

#include <gtest/gtest.h>

#include "run/emitted.h"

namespace twill::run {
namespace {

using testing::emitted;

class Sizes : public ::testing::TestWithParam<std::string> {};

// Protects: for each use of a kernel's arguments, the chosen values give its loop the wanted length
// and several CTAs. No result depends on the order of the CTAs.
TEST_P(Sizes, MakeTheLoopAsLongAsWanted) {
  const auto made = emitted(GetParam());
  ASSERT_NE(made, nullptr);
  const Kernel kernel = made->kernel();
  for (const std::uint64_t seed : {1U, 2U}) {
    for (std::int64_t trips = 0; trips <= 4; ++trips) {
      const auto chosen = choose(kernel, {}, trips, seed);
      ASSERT_TRUE(chosen.has_value()) << to_string(chosen.error());
      const bool counts_all_tiles = GetParam().find("conv2d") != std::string::npos;  // 9, 18, ...
      ASSERT_TRUE(chosen->has_value()) << trips;
      EXPECT_FALSE((*chosen)->reference->accesses.conflict().has_value()) << trips;
      EXPECT_TRUE(counts_all_tiles || (*chosen)->trips == trips) << trips << ", seed " << seed;
      const auto& grid = (*chosen)->launch.programs;
      EXPECT_GT(grid[0] * grid[1] * grid[2], 1) << trips;
    }
  }
}

// Protects: trip counts in an array are filled so that some CTAs make no iteration and others some.
// Values with which a division fails or the loop does not go on are never drawn.
TEST(ChosenSizes, OfLoadedBoundsDivisorsAndSteps) {
  for (const std::string path : {"tests/run/loaded_ends.ttgir", "tests/run/step_argument.ttgir"}) {
    const auto made = emitted(path);
    ASSERT_NE(made, nullptr);
    const Kernel kernel = made->kernel();
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      for (std::int64_t trips = 0; trips <= 4; ++trips) {
        const auto chosen = choose(kernel, {}, trips, seed);
        ASSERT_TRUE(chosen.has_value()) << path << to_string(chosen.error());
        ASSERT_TRUE(chosen->has_value()) << path << " " << trips;
        const bool loaded = path.find("loaded") != std::string::npos;
        EXPECT_TRUE(loaded ? *(*chosen)->trips > 0 : (*chosen)->trips == trips)
            << path << ", seed " << seed << ": " << *(*chosen)->trips;
        for (const char* const divisor : {"G", "SPLITS"}) {
          const auto& all = (*chosen)->launch.arguments;
          const auto given = all.find(divisor);
          const bool is_zero =
              given != all.end() ? given->second == 0.0 : (*chosen)->launch.size == 0;
          EXPECT_FALSE(is_zero) << path;
        }
      }
    }
  }
}

std::string name_of(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param.substr(info.param.find('/') + 1);
  for (char& c : name) c = (std::isalnum(static_cast<unsigned char>(c)) != 0) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, Sizes,
    ::testing::Values("kernels/gemm/sm_90/tma_128x128x64.pre.ttgir",
                      "kernels/gemm/sm_90/ptr_128x128x64.pre.ttgir",
                      "kernels/conv2d/sm_90/3x3_128x128x64.pre.ttgir",
                      "kernels/gemm_batched/sm_90/128x128x64.pre.ttgir",
                      "kernels/gemm_persistent/sm_90/128x128x64_nested.pre.ttgir",
                      "kernels/gemm_persistent/sm_90/128x256x64_flat.pre.ttgir",
                      "kernels/gemm_rowsum/sm_90/128x128x64.pre.ttgir",
                      "kernels/gemm_bias/sm_90/nn_128x128x64.pre.ttgir",
                      "kernels/gemm_around/sm_90/split_k.pre.ttgir",
                      "kernels/gemm_around/sm_90/halves.pre.ttgir",
                      "kernels/fa_fwd/sm_90/d128.pre.ttgir",
                      "kernels/fa_fwd/sm_90/dev_d64_ws.pre.ttgir",
                      "kernels/fa_fwd_subtiled/sm_90/2x64n128d64.pre.ttgir",
                      "kernels/fa_bwd_dq/sm_90/m128n64d128.pre.ttgir",
                      "tests/execute/flat/carried_pointers.sm_90.ttgir"),
    name_of);

}  // namespace
}  // namespace twill::run
