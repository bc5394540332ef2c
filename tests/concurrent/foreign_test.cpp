// Modules that Twill did not print: Triton's own warp specialization of bundled kernels, and of
// others by Triton 3.6 to 3.9. Protects: no false alarm, each bundled one computes what its kernel
// computes, to the last bit, and bugs planted into the others are found.
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "twill/driver/run_module.h"
#include "twill/driver/verify_module.h"

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

driver::Input specialized(const std::string& name) {
  auto input = driver::read_input(std::string(TWILL_SOURCE_DIR) + "/tests/concurrent/triton/" +
                                  name + ".ttgir");
  if (!input) throw std::runtime_error(to_string(input.error()));
  return *std::move(input);
}

TEST(SpecializedByTriton, IsProvenAndRunsWithoutAlarm) {
  for (const char* name :
       {"attn90_39", "blockadd_37", "gated90_38", "gated_39", "persistent90_36"}) {
    const auto proven = driver::verify_module(specialized(name), 0);
    ASSERT_TRUE(proven) << to_string(proven.error());
    EXPECT_TRUE(run::is_proven(proven->proof)) << run::to_text(proven->proof, proven->program);
    driver::RunModuleRequest request;
    request.module = specialized(name);
    request.trips = {0, 1, 2, 7};
    request.tiles = false;
    const auto ran = driver::run_module(request);
    ASSERT_TRUE(ran) << to_string(ran.error());
    EXPECT_TRUE(run::agrees(ran->report)) << run::to_text(ran->report, ran->program);
  }
}

/// A line that is left out, and an op at which that is found.
struct LeftOut {
  const char* module;
  const char* line;
  concurrent::Rule rule;
  const char* found_at;
};

class SpecializedBug : public testing::TestWithParam<LeftOut> {};

TEST_P(SpecializedBug, IsFound) {
  driver::Input input = specialized(GetParam().module);
  const std::size_t at = input.text.find(GetParam().line);
  ASSERT_NE(at, std::string::npos);
  const std::size_t begin = input.text.rfind('\n', at);
  input.text.erase(begin, input.text.find('\n', at) - begin);
  const auto made = driver::verify_module(input, 0);
  ASSERT_TRUE(made) << to_string(made.error());
  ASSERT_TRUE(run::is_broken(made->proof)) << run::to_text(made->proof, made->program);
  const auto& found = made->proof.every_trip->findings[0];
  EXPECT_EQ(found.rule, GetParam().rule);
  EXPECT_EQ(made->program.op(found.op).name, GetParam().found_at);
}

using Rule = concurrent::Rule;
INSTANTIATE_TEST_SUITE_P(
    Triton, SpecializedBug,
    testing::Values(
        LeftOut{"gated_39", "ttng.wait_barrier %acc_64, %acc_63", Rule::read_before_write,
                "ttng.tc_gen5_mma"},
        LeftOut{"gated90_38", "ttng.arrive_barrier %80, 128", Rule::deadlock, "ttng.wait_barrier"},
        LeftOut{"gated90_38", "ttng.wait_barrier %64, %x_9", Rule::overwrite,
                "ttng.async_tma_copy_global_to_local"},
        LeftOut{"attn90_39", "ttng.wait_barrier %64, %61", Rule::read_before_write,
                "ttng.warp_group_dot"},
        LeftOut{"attn90_39", "ttng.wait_barrier %55, %c0_i32_8", Rule::phase, "ttng.wait_barrier"},
        LeftOut{"blockadd_37", "ttng.arrive_barrier %acc_48, 1", Rule::deadlock,
                "ttng.wait_barrier"},
        LeftOut{"persistent90_36", "ttng.async_tma_store_wait", Rule::exit,
                "ttng.async_tma_copy_local_to_global"},
        LeftOut{"persistent90_36", "ttng.wait_barrier %27, %x_16", Rule::overwrite,
                "ttng.async_tma_copy_global_to_local"}));

}  // namespace
}  // namespace twill::tests
