// Modules that Twill did not print: Triton's own warp specialization of bundled kernels. Protects:
// no false alarm, and each computes what its kernel computes, to the last bit.
#include <string>

#include <gtest/gtest.h>

#include "twill/driver/run_module.h"

namespace twill::tests {
namespace {

struct Foreign {
  const char* module;
  const char* kernel;
};

class ForeignModule : public testing::TestWithParam<Foreign> {};

TEST_P(ForeignModule, runs_without_alarm) {
  const std::string folder = std::string(TWILL_SOURCE_DIR) + "/kernels/";
  auto input = driver::read_input(folder + GetParam().module);
  ASSERT_TRUE(input) << to_string(input.error());
  driver::RunModuleRequest request;
  request.module = std::move(*input);
  request.against = folder + GetParam().kernel;
  request.trips = {0, 1, 2, 3, 7};
  const auto ran = driver::run_module(request);
  ASSERT_TRUE(ran) << to_string(ran.error());
  EXPECT_TRUE(run::agrees(ran->report)) << run::to_text(ran->report, ran->program);
  for (const auto& trial : ran->report.trials) {
    for (const auto& output : trial.outputs) EXPECT_EQ(output.rounded, 0) << output.name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Triton, ForeignModule,
    testing::Values(Foreign{"gemm/sm_100/tma_128x128x64_ws.ws100.ttgir",
                            "gemm/sm_100/tma_128x128x64_ws.pre.ttgir"},
                    Foreign{"dual_gemm/sm_100/128x128x64_ws.ws100.ttgir",
                            "dual_gemm/sm_100/128x128x64_ws.pre.ttgir"},
                    Foreign{"fa_fwd/sm_100/d64_ws.ws100.ttgir", "fa_fwd/sm_100/d64_ws.pre.ttgir"},
                    Foreign{"gemm_persistent/sm_100/128x256x64_flat_ws.ws100.ttgir",
                            "gemm_persistent/sm_100/128x256x64_flat_ws.pre.ttgir"},
                    Foreign{"fa_fwd/sm_90/d128m64.ws90.ttgir", "fa_fwd/sm_90/d128m64.pre.ttgir"}));

}  // namespace
}  // namespace twill::tests
