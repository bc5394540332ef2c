#include <algorithm>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

#include "twill/driver/simulate_loop.h"

// Protects the agreement of two programs with one model of shared pipes. One knows steps and
// barriers: the run of a kernel's plan. The other knows orders: the expected co-run of the
// schedule's order.
namespace twill::driver {
namespace {

/// Kernels to run, as paths below kernels/.
constexpr const char* kKernels[] = {
    "fa_fwd/sm_90/d128",          "fa_fwd_subtiled/sm_90/2x64n128d128",
    "gemm/sm_90/tma_128x128x64",  "gemm/sm_90/tma_128x256x64",
    "dual_gemm/sm_90/128x128x64", "gemm_rowsum/sm_90/128x128x64",
    "fa_fwd/sm_90/d64",           "fa_fwd_subtiled/sm_90/2x64n128d64",
    "fa_fwd/sm_100/d128",         "fa_fwd_subtiled/sm_100/2x64n128d128",
    "gemm/sm_100/tma_128x128x64", "gemm/sm_100/tma_128x256x64",
};

/// Tolerance for runs that settle into one of several steady states, by how they start. The two
/// models start differently, and without turns the tensor core serves the first to ask.
double tolerance_of(const std::string& kernel) {
  const bool settles_elsewhere =
      kernel == "fa_fwd_subtiled/sm_90/2x64n128d64" || kernel == "fa_fwd/sm_100/d128";
  return settles_elsewhere ? 0.15 : 0.03;
}

bool takes_turns(const plan::Plan& plan) {
  return std::any_of(plan.channels.begin(), plan.channels.end(), [](const plan::Channel& channel) {
    return channel.kind == plan::ChannelKind::token;
  });
}

// Protects: a plan whose roles take turns keeps the schedule's interval at the schedule's costs.
// Other plans are compared with the interval at the rates that shared pipes leave. Their tensor
// core serves the first to come, which can be another order than the schedule's at costs without
// overlap.
TEST(Kernels, RunAsTheirOrdersAreExpectedTo) {
  int with_turns = 0;
  std::printf("%-38s %6s %9s %9s %9s %9s\n", "", "II", "expected", "pipes", "barriers", "loads");
  for (const char* kernel : kKernels) {
    Request request;
    const std::string path = std::string(TWILL_SOURCE_DIR) + "/kernels/" + kernel + ".pre.ttgir";
    request.input = read_input(path).value();
    const auto loop = simulate_loop(request, {200, {}, false});
    ASSERT_TRUE(loop.has_value()) << to_string(loop.error());
    ASSERT_TRUE(loop->run.has_value() && loop->outcome->bracket) << kernel;
    const auto expected = static_cast<double>(loop->outcome->bracket->expected.value_or(0));
    const simulate::Account& account = loop->account;
    std::printf("%-38s %6lld %9.0f %9.0f %9.0f %9.0f\n", kernel,
                static_cast<long long>(loop->plan->plan().schedule.initiation_interval), expected,
                account.pipes.value_or(0), account.barriers.value_or(0), account.loads.value_or(0));
    EXPECT_NEAR(account.pipes.value_or(0), expected, tolerance_of(kernel) * expected) << kernel;
    EXPECT_EQ(account.loads, loop->run->interval) << kernel;
    // Only the order of roles and units is in force: the plan keeps its schedule.
    const Cycles interval = loop->plan->plan().schedule.initiation_interval;
    EXPECT_LE(account.scheduled.value_or(0), static_cast<double>(interval) + 1e-3) << kernel;
    EXPECT_GE(account.loads, static_cast<double>(loop->outcome->bracket->fastest)) << kernel;
    if (!takes_turns(loop->plan->plan())) continue;
    ++with_turns;
    EXPECT_LE(account.own.value_or(0),
              static_cast<double>(loop->plan->plan().schedule.initiation_interval) + 1e-3)
        << kernel;
  }
  EXPECT_GT(with_turns, 0);
}

// Protects against measuring the end of a run. The last iterations, as many as the ring has slots,
// have the pipes to themselves. Counted in, they made a run of 1000 iterations look like 346.9
// cycles each, faster than the pipe.
TEST(Kernels, TheEndOfARunIsNoSteadyState) {
  Request request;
  const std::string path =
      std::string(TWILL_SOURCE_DIR) + "/kernels/gemm/sm_100/ptr_128x128x64.pre.ttgir";
  request.input = read_input(path).value();
  for (const std::int64_t trips : {64, 200, 1000}) {
    const auto loop = simulate_loop(request, {trips, {}, false});
    ASSERT_TRUE(loop.has_value()) << to_string(loop.error());
    EXPECT_NEAR(loop->run->interval.value_or(0),
                static_cast<double>(loop->outcome->bracket->fastest), 1e-3)
        << trips;
  }
}

// Protects: in this kernel a few iterations of equal length recur, with longer ones between them.
TEST(Kernels, AFewEqualIterationsAreNoSteadyState) {
  Request request;
  const std::string path = std::string(TWILL_SOURCE_DIR) + "/kernels/fa_fwd/sm_90/d64.pre.ttgir";
  request.input = read_input(path).value();
  request.alternatives.take = 7;
  const auto loop = simulate_loop(request, {1000, {}, false});
  ASSERT_TRUE(loop.has_value()) << to_string(loop.error());
  const double mean = loop->run->total / 1000;
  EXPECT_NEAR(loop->run->interval.value_or(0), mean, 0.02 * mean);
  EXPECT_GE(loop->run->interval, static_cast<double>(loop->outcome->bracket->fastest));
}

}  // namespace
}  // namespace twill::driver
