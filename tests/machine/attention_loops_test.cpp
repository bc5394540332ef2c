#include <cstdio>
#include <vector>

#include <gtest/gtest.h>

#include "machine/attention_loop.h"
#include "twill/problem/problem.h"
#include "twill/schedule/corun.h"
#include "twill/schedule/least_interval.h"

// Test of the shared-pipe model: attention loops that were timed on an H200. Only the loop with the
// largest FMA share was used in choosing the model's numbers (docs/decisions/0004).
namespace twill::machine {
namespace {

using schedule::Turns;

struct Timed {
  const char* name;
  AttentionLoop loop;
  double cycles;                  ///< measured, per iteration of all warpgroups
  Turns turns = Turns::enforced;  ///< whether ping-pong barriers held the order of the products
};

/// FA3-order loops of two groups: best over start skews, or with ping-pong barriers.
const std::vector<Timed>& timed_loops() {
  using enum Pipeline;
  static const std::vector<Timed> kLoops = {
      {"in order, 1 WG", {in_order, 1}, 1964, Turns::first_come},
      {"in order, 2 WG", {in_order, 2}, 3018, Turns::first_come},
      {"in order, 3 WG", {in_order, 3}, (3624 + 3778) / 2.0, Turns::first_come},
      {"FA3, hoisted, 1 WG", {fa3, 1, 128, false, true}, 1687, Turns::first_come},
      {"FA3, hoisted, 2 WG, skewed", {fa3, 2, 128, false, true}, 2372, Turns::first_come},
      {"FA3, hoisted, 2 WG, ping-pong", {fa3, 2, 128, false, true}, 2422},
      {"FA3, pinned, 2 WG, in phase", {fa3, 2}, 2442, Turns::first_come},
      {"FA3, pinned, 2 WG, skewed", {fa3, 2}, 2429, Turns::first_come},
      {"FA3, pinned, 2 WG, ping-pong", {fa3, 2}, 2445},
      {"FA3, 2 WG, N 80, ping-pong", {fa3, 2, 80}, 2485 * 80 / 128.0},
      {"FA3, 2 WG, N 96, ping-pong", {fa3, 2, 96}, 2431 * 96 / 128.0},
      {"FA3, 2 WG, N 112, ping-pong", {fa3, 2, 112}, 2306 * 112 / 128.0},
      {"FA3, 2 WG, N 128, ping-pong, round 2", {fa3, 2, 128}, 2362},
      {"FA3, 2 WG, N 144, ping-pong", {fa3, 2, 144}, 2365 * 144 / 128.0},
      {"FA3, 2 WG, N 160, ping-pong", {fa3, 2, 160}, 2332 * 160 / 128.0},
      {"FA3, 2 WG, N 176, ping-pong", {fa3, 2, 176}, 2179 * 176 / 128.0},
      {"FA3, 2 WG, N 80, skip", {fa3, 2, 80, true}, 2369 * 80 / 128.0},
      {"FA3, 2 WG, N 96, skip", {fa3, 2, 96, true}, 2355 * 96 / 128.0},
      {"FA3, 2 WG, N 112, skip", {fa3, 2, 112, true}, 2278 * 112 / 128.0},
      {"FA3, 2 WG, N 128, skip", {fa3, 2, 128, true}, 2277},
      {"FA3, 2 WG, N 144, skip", {fa3, 2, 144, true}, 2271 * 144 / 128.0},
      {"FA3, 2 WG, N 160, skip", {fa3, 2, 160, true}, 2262 * 160 / 128.0},
      {"FA3, 2 WG, N 176, skip", {fa3, 2, 176, true}, 2254 * 176 / 128.0},
      {"FA3, 3 WG, N 80", {fa3, 3, 80}, 2205 * 80 / 128.0 * 1.5, Turns::first_come},
      {"FA3, 3 WG, N 80, skip", {fa3, 3, 80, true}, 2049 * 80 / 128.0 * 1.5, Turns::first_come},
      {"FA3, 3 WG, N 64", {fa3, 3, 64}, 2364 * 64 / 128.0 * 1.5, Turns::first_come},
      {"FA3, 3 WG, N 64, skip", {fa3, 3, 64, true}, 2271 * 64 / 128.0 * 1.5, Turns::first_come},
  };
  return kLoops;
}

double predicted(const Machine& machine, const Timed& timed) {
  const PosedOrder posed = attention(machine, timed.loop, Rate::fastest);
  const auto run = schedule::co_run(posed.problem, posed.order, timed.turns);
  if (!run) {
    ADD_FAILURE() << to_string(run.error());
    return 0;
  }
  return run->interval;
}

double least(const Machine& machine, const AttentionLoop& loop, Rate rate) {
  const PosedOrder posed = attention(machine, loop, rate);
  const auto answer = schedule::least_interval(posed.problem, posed.order);
  if (!answer) {
    ADD_FAILURE() << to_string(answer.error());
    return 0;
  }
  Cycles interval = answer->initiation_interval;
  for (std::size_t p = 0; p < posed.problem.pipes().size(); ++p) {
    Cycles demand = 0;
    for (const auto& op : posed.problem.ops()) {
      for (const auto& use : op.alternatives[0].pipes) {
        if (use.pipe.index() == p) demand += use.demand;
      }
    }
    interval = std::max(interval, demand);
  }
  return static_cast<double>(interval);
}

// Every loop is within 10 % of its measured time.
TEST(AttentionLoops, AreWithinTenPercentOfTheHardware) {
  const Machine h200 = shipped("h200");
  for (const Timed& timed : timed_loops()) {
    const double cycles = predicted(h200, timed);
    std::printf("%-40s measured %6.0f predicted %6.0f %+5.1f %%\n", timed.name, timed.cycles,
                cycles, 100 * (cycles / timed.cycles - 1));
    EXPECT_NEAR(cycles, timed.cycles, 0.1 * timed.cycles) << timed.name;
  }
}

// The true lower bound lies below the hardware's time and the achievable figure above it.
TEST(AttentionLoops, AreInsideTheirBracket) {
  const Machine h200 = shipped("h200");
  for (const Timed& timed : timed_loops()) {
    const double fastest = least(h200, timed.loop, Rate::fastest);
    const double slowest = least(h200, timed.loop, Rate::slowest);
    std::printf("%-40s %6.0f <= %6.0f <= %6.0f\n", timed.name, fastest, timed.cycles, slowest);
    EXPECT_LE(fastest, timed.cycles) << timed.name;
    EXPECT_GE(slowest, timed.cycles) << timed.name;
  }
}

/// Cycles per 128 query rows and 128 keys, the measure in which loops of all shapes compare.
double normalised(double cycles, const AttentionLoop& loop) {
  return cycles * 128.0 / loop.keys * 2.0 / loop.groups;
}

// Pairs of loops that the hardware sets more than 10 % apart come out in the same order.
TEST(AttentionLoops, AreRankedAsTheHardwareRanksThem) {
  const Machine h200 = shipped("h200");
  std::vector<double> measured;
  std::vector<double> model;
  for (const Timed& timed : timed_loops()) {
    measured.push_back(normalised(timed.cycles, timed.loop));
    model.push_back(normalised(predicted(h200, timed), timed.loop));
  }
  for (std::size_t a = 0; a < measured.size(); ++a) {
    for (std::size_t b = 0; b < measured.size(); ++b) {
      if (measured[a] * 1.1 > measured[b]) continue;
      EXPECT_LT(model[a], model[b]) << timed_loops()[a].name << " / " << timed_loops()[b].name;
    }
  }
}

}  // namespace
}  // namespace twill::machine
