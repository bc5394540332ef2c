#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "twill/driver/numbers_loop.h"

// Protects whole kernels, by every strategy that has a plan, on both architectures. The plan, in
// the order of the simulated machine, computes the text's results to the last bit.
namespace twill::driver {
namespace {

using strategy::Strategy;

Request request_for(const std::string& kernel, Strategy by = Strategy::twill) {
  Request request;
  request.input =
      read_input(std::string(TWILL_SOURCE_DIR) + "/kernels/" + kernel + ".pre.ttgir").value();
  request.strategy.strategy = by;
  request.limits.work_limit = 20'000'000;  // any schedule will do
  return request;
}

/// Asks for three trips of attention, or five of GEMM: rings are used again, and the last round is
/// not full.
NumbersRequest numbers(std::int64_t size = 320) {
  NumbersRequest wanted;
  wanted.launch.size = size;
  return wanted;
}

class Kernels : public ::testing::TestWithParam<std::string> {};

TEST_P(Kernels, ComputeWhatTheirTextDoes) {
  int plans = 0;
  for (const Strategy by : {Strategy::twill, Strategy::modulo, Strategy::triton,
                            Strategy::triton_plain, Strategy::cypress, Strategy::sequential}) {
    const Request request = request_for(GetParam(), by);
    const std::string who = GetParam() + " by " + std::string(strategy::name_of(by));
    NumbersRequest wanted = numbers();
    const auto loop = compare_numbers(request, wanted);
    if (!loop) {  // some strategies cannot arrange a loop, or not with this memory
      EXPECT_NE(by, Strategy::twill) << to_string(loop.error());
      EXPECT_EQ(loop.error().message.find("numbers"), std::string::npos) << loop.error().message;
      continue;
    }
    if (!loop->comparison) continue;
    ++plans;
    EXPECT_TRUE(numerics::agrees(*loop->comparison)) << who << "\n"
                                                     << numerics::to_text(*loop->comparison);
    EXPECT_GT(loop->comparison->trips, 2) << who;
    // Run with delays of all work that is not awaited.
    wanted.jitter = 7;
    wanted.programs = {{3, 1, 0}};
    const auto late = compare_numbers(request, loop->planned, loop->planned.plan->plan(), wanted);
    ASSERT_TRUE(late.has_value()) << who << "\n" << to_string(late.error());
    EXPECT_TRUE(numerics::agrees(*late)) << who << "\n" << numerics::to_text(*late);
  }
  EXPECT_GE(plans, 4) << GetParam();
}

std::string name_of(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name) c = c == '/' ? '_' : c;
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    Numbers, Kernels,
    ::testing::Values(
        "gemm/sm_90/tma_128x128x64", "gemm/sm_100/tma_128x128x64", "gemm/sm_90/ptr_128x128x64",
        "gemm/sm_100/ptr_128x128x64", "dual_gemm/sm_90/128x128x64", "dual_gemm/sm_100/128x128x64",
        "gemm_rowsum/sm_90/128x128x64", "gemm_rowsum/sm_100/128x128x64", "fa_fwd/sm_90/d128",
        "fa_fwd/sm_90/dev_d64_ws", "fa_fwd/sm_100/d128", "fa_fwd_subtiled/sm_90/2x64n128d128",
        "fa_fwd_subtiled/sm_100/2x64n128d128", "fa_fwd_causal/sm_90/d128",
        "fa_fwd_causal/sm_100/d128", "fa_bwd/sm_90/m64n128d128_tmared",
        "fa_bwd/sm_100/m64n128d128_tmared", "fa_bwd/sm_100/m128n128d128_tmared",
        "gemm_persistent/sm_90/128x128x64_nested", "gemm_persistent/sm_90/128x256x64_flat",
        "gemm_persistent/sm_100/128x256x64_flat_ws"),
    name_of);

// Protects: regions in which roles take turns, for products and for exponentials.
TEST(PingPong, ComputesWhatTheTextDoes) {
  for (const std::string kernel : {"fa_fwd/sm_90/d128", "fa_fwd_subtiled/sm_100/2x64n128d128"}) {
    Request request = request_for(kernel, Strategy::triton);
    request.strategy.ping_pong = true;
    NumbersRequest wanted = numbers();
    wanted.jitter = 3;
    const auto loop = compare_numbers(request, wanted);
    ASSERT_TRUE(loop.has_value() && loop->comparison) << kernel;
    EXPECT_FALSE(loop->planned.outcome.regions.all.empty()) << kernel;
    EXPECT_TRUE(numerics::agrees(*loop->comparison)) << kernel << "\n"
                                                     << numerics::to_text(*loop->comparison);
  }
}

// Protects: every path for trip counts too short for the pipeline, none at all included.
TEST(Trips, AnyNumberOfThem) {
  for (const std::string kernel : {"gemm/sm_90/tma_128x128x64", "gemm/sm_100/tma_128x128x64",
                                   "gemm_persistent/sm_90/128x256x64_flat"}) {
    const bool flat = kernel.ends_with("flat");
    const Request request = request_for(kernel);
    const auto planned = plan_loop(request);
    ASSERT_TRUE(planned.has_value() && planned->plan);
    for (int trips = 0; trips < 8; ++trips) {
      NumbersRequest wanted = numbers(64 * std::max(1, trips));
      wanted.programs = {{0, 0, 0}};
      if (trips == 0)
        wanted.launch.arguments[flat ? "arg17" : "arg15"] = 0;  // the last argument: K
      const auto found = compare_numbers(request, *planned, planned->plan->plan(), wanted);
      ASSERT_TRUE(found.has_value()) << to_string(found.error());
      EXPECT_TRUE(numerics::agrees(*found)) << kernel << "\n" << numerics::to_text(*found);
      EXPECT_EQ(found->trips, trips);
    }
  }
}

// Protects: a loop whose ops cannot be told apart is refused with its line, before any comparison.
TEST(Refusals, SayWhy) {
  Request flat = request_for("gemm_persistent/sm_90/128x256x64_flat");
  const std::string last =
      "%28 = arith.cmpi eq, %arg19, %15";  // without this line the nest is not known
  flat.input.text.replace(flat.input.text.find(last), last.size(),
                          "%28 = arith.cmpi eq, %arg19, %c1_i32");
  const auto branch = compare_numbers(flat, numbers());
  ASSERT_FALSE(branch.has_value());
  EXPECT_NE(branch.error().message.find("scf.if is a branch in which accesses keep an order"),
            std::string::npos);
  EXPECT_GT(branch.error().location.line, 0);
  Request request;
  request.input = read_input(std::string(TWILL_SOURCE_DIR) + "/loops/gemm.loop").value();
  const auto loop = compare_numbers(request, numbers());
  ASSERT_FALSE(loop.has_value());
  EXPECT_NE(loop.error().message.find("says how long ops take, and not what they compute"),
            std::string::npos);
}

}  // namespace
}  // namespace twill::driver
