#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "machine/attention_loop.h"
#include "twill/plan/make.h"
#include "twill/plan/proof.h"
#include "twill/plan/text.h"
#include "twill/problem/problem.h"
#include "twill/schedule/corun.h"
#include "twill/schedule/least_interval.h"
#include "twill/simulate/simulate.h"
#include "twill/verify/verify.h"

// Protects the simulator's speed of attention loops that were timed on an H200
// (docs/decisions/0004-shared-pipes.md). The simulator must agree with the co-run of their order,
// and both must be near the hardware. Without turns, units serve in order of arrival in both
// models; that page names the error.
namespace twill::simulate {
namespace {

using machine::AttentionLoop;
using enum machine::Pipeline;

struct Timed {
  const char* name;
  AttentionLoop loop;
  double cycles;      ///< measured, per iteration of all warpgroups
  bool turns = true;  ///< ping-pong barriers
};

const std::vector<Timed>& timed_loops() {
  static const std::vector<Timed> kLoops = {
      {"in order, 1 WG", {in_order, 1}, 1964, false},
      {"in order, 2 WG", {in_order, 2}, 3018, false},
      {"in order, 2 WG, ping-pong", {in_order, 2}, 3044},
      {"in order, 3 WG", {in_order, 3}, (3624 + 3778) / 2.0, false},
      {"FA3, hoisted, 1 WG", {fa3, 1, 128, false, true}, 1687, false},
      {"FA3, hoisted, 2 WG, skewed", {fa3, 2, 128, false, true}, 2372, false},
      {"FA3, hoisted, 2 WG, ping-pong", {fa3, 2, 128, false, true}, 2422},
      {"FA3, pinned, 2 WG, in phase", {fa3, 2}, 2442, false},
      {"FA3, pinned, 2 WG, skewed", {fa3, 2}, 2429, false},
      {"FA3, pinned, 2 WG, ping-pong", {fa3, 2}, 2445},
      {"FA3, 2 WG, N 80, ping-pong", {fa3, 2, 80}, 2485 * 80 / 128.0},
      {"FA3, 2 WG, N 96, ping-pong", {fa3, 2, 96}, 2431 * 96 / 128.0},
      {"FA3, 2 WG, N 112, ping-pong", {fa3, 2, 112}, 2306 * 112 / 128.0},
      {"FA3, 2 WG, N 128, ping-pong", {fa3, 2, 128}, 2362 * 128 / 128.0},
      {"FA3, 2 WG, N 144, ping-pong", {fa3, 2, 144}, 2365 * 144 / 128.0},
      {"FA3, 2 WG, N 160, ping-pong", {fa3, 2, 160}, 2332 * 160 / 128.0},
      {"FA3, 2 WG, N 176, ping-pong", {fa3, 2, 176}, 2179 * 176 / 128.0},
      {"FA3, 2 WG, N 80, ping-pong, skip", {fa3, 2, 80, true}, 2369 * 80 / 128.0},
      {"FA3, 2 WG, N 96, ping-pong, skip", {fa3, 2, 96, true}, 2355 * 96 / 128.0},
      {"FA3, 2 WG, N 112, ping-pong, skip", {fa3, 2, 112, true}, 2278 * 112 / 128.0},
      {"FA3, 2 WG, N 128, ping-pong, skip", {fa3, 2, 128, true}, 2277 * 128 / 128.0},
      {"FA3, 2 WG, N 144, ping-pong, skip", {fa3, 2, 144, true}, 2271 * 144 / 128.0},
      {"FA3, 2 WG, N 160, ping-pong, skip", {fa3, 2, 160, true}, 2262 * 160 / 128.0},
      {"FA3, 2 WG, N 176, ping-pong, skip", {fa3, 2, 176, true}, 2254 * 176 / 128.0},
  };
  return kLoops;
}

/// Makes a proven plan of the loop's own order. The schedule that stands for the order may break
/// the rule on pipes: the run shows how pipes are shared.
plan::Plan plan_of(const machine::PosedOrder& posed, bool turns) {
  problem::Parts parts = posed.problem.parts();
  parts.relaxed.push_back(problem::Rule::pipe);
  const problem::Problem problem = problem::pose(std::move(parts)).value();
  const auto timed = schedule::least_interval(problem, posed.order);
  if (!timed) ADD_FAILURE() << to_string(timed.error());
  const auto checked = verify::verify(problem, timed->schedule);
  if (!checked) ADD_FAILURE() << "the order breaks a rule";
  plan::Setting setting;
  setting.tokens = turns;
  for (const problem::Op& op : problem.ops()) {
    setting.mechanisms.push_back(op.asynchronous ? plan::Mechanism::wgmma
                                                 : plan::Mechanism::threads);
  }
  auto draft = plan::draft_plan(*checked, setting);
  if (!draft) ADD_FAILURE() << to_string(draft.error());
  auto proven = plan::prove(*std::move(draft));
  if (!proven) ADD_FAILURE() << proven.error().front().message;
  return proven->plan();
}

TEST(AttentionPlans, AreAsFastAsTheHardware) {
  const machine::Machine h200 = machine::shipped("h200");
  for (const Timed& timed : timed_loops()) {
    const auto posed = machine::attention(h200, timed.loop, machine::Rate::fastest);
    const plan::Plan plan = plan_of(posed, timed.turns);
    Timing timing;
    timing.shared_pipes = true;
    const auto pipes = simulate(plan, {300, timing, nullptr, false});
    ASSERT_TRUE(pipes.has_value()) << pipes.error().message;
    timing.mbarrier_signal = h200->mbarrier_signal.value;
    timing.named_barrier_signal = h200->named_barrier_signal.value;
    const auto whole = simulate(plan, {300, timing, nullptr, false});
    ASSERT_TRUE(whole.has_value()) << whole.error().message;
    const auto turns = timed.turns ? schedule::Turns::enforced : schedule::Turns::first_come;
    const double expected = schedule::co_run(posed.problem, posed.order, turns)->interval;
    std::printf(
        "%-36s measured %5.0f  co-run %5.0f  simulated %5.0f, with barriers %5.0f %+5.1f %%\n",
        timed.name, timed.cycles, expected, *pipes->interval, *whole->interval,
        100 * (*whole->interval / timed.cycles - 1));
    EXPECT_NEAR(*whole->interval, timed.cycles, 0.1 * timed.cycles) << timed.name;
    EXPECT_NEAR(*pipes->interval, expected, 0.03 * expected) << plan::to_text(plan);
  }
}

}  // namespace
}  // namespace twill::simulate
