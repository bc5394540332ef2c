#include "twill/driver/transfers.h"

#include <filesystem>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "driver/request.h"
#include "solve/random_problem.h"
#include "twill/driver/plan_loop.h"
#include "twill/machine/machine.h"
#include "twill/problem/problem.h"
#include "twill/report/story.h"
#include "twill/schedule/loop_text.h"
#include "twill/solve/solve.h"
#include "twill/verify/verify.h"

// Protects: a schedule with transfers has a plan, or is reported to have none.
namespace twill::driver {
namespace {

problem::Problem problem_of(const std::string& text) {
  auto loop = schedule::parse_loop(text, "test");
  if (!loop) throw std::runtime_error(to_string(loop.error()));
  return loop->problem;
}

/// One group lacks registers for both ops, and must not issue both in less than 20 cycles.
const std::string kChain =
    "loop chain\nrelax placement\nmemory SMEM capacity 40000\ngroup G registers 64\n"
    "group H registers 64\nop a latency 10 issue 10 registers 32\n"
    "op b latency 10 issue 10 occupies SMEM 100\nop c issue 1\na -> b\nb -> c\n";

TEST(Transfers, AreWhatAnotherGroupReadsInRegisters) {
  const problem::Problem problem = problem_of(kChain);
  schedule::Schedule found{
      10,
      {{0, schedule::GroupId(0), 0}, {10, schedule::GroupId(1), 0}, {20, schedule::GroupId(0), 0}}};
  EXPECT_TRUE(transfers_values(problem, found));
  EXPECT_EQ(transferred_bytes(problem, found), 4 * 32 * 32 * 4);  // one copy, read at once
  found.ops[1].issue = 31;
  EXPECT_EQ(transferred_bytes(problem, found), 3 * 4 * 32 * 32 * 4);  // 21 cycles at II 10
  found.ops[1].group = found.ops[0].group;
  EXPECT_FALSE(
      transfers_values(problem, found));  // b's value is in memory, where every group can read it
  EXPECT_EQ(transferred_bytes(problem, found), 0);
}

// A Problem without transfers demands more: its schedules are schedules of the whole Problem.
TEST(Transfers, NarrowerProblemsDemandMore) {
  const problem::Problem whole = problem_of(kChain);
  const auto home = without_transfers(whole);
  ASSERT_TRUE(home);
  const auto apart = solve::solve(whole);
  const auto together = solve::solve(*home);
  ASSERT_TRUE(apart.schedule && together.schedule);
  EXPECT_TRUE(transfers_values(whole, *apart.schedule));
  EXPECT_FALSE(transfers_values(whole, *together.schedule));
  EXPECT_LT(apart.schedule->initiation_interval, together.schedule->initiation_interval);
  EXPECT_TRUE(verify::verify(whole, *together.schedule));
  EXPECT_FALSE(without_transfers(*home)) << "nothing more to tie";

  const auto room = with_room(whole, 30000);
  ASSERT_TRUE(room);
  EXPECT_EQ(room->memories()[0].capacity, 10000);
  EXPECT_TRUE(room->in_force(problem::Rule::placement));
  EXPECT_FALSE(with_room(*room, 0)) << "nothing changes";
  EXPECT_FALSE(with_room(whole, 40000)) << "no byte is left";
}

// The backward pass in one softmax group must transfer a tile; at 2802 cycles, no memory is left
// for it.
TEST(Transfers, TakeTheirRoomFromTheRings) {
  const auto answer = answer_loop(request_for("loops/bwd_b1.loop"));
  ASSERT_TRUE(answer && answer->plan);
  EXPECT_EQ(answer->outcome.answer.schedule->initiation_interval, 4580);
  EXPECT_EQ(answer->outcome.answer.lower_bound.value, 2802);
}

// Every feasible loop can be planned: each bundled loop has a plan that is proven safe. No plan is
// faster than the loop's proven bound.
TEST(Transfers, EveryBundledLoopHasAPlan) {
  int narrowed = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(TWILL_SOURCE_DIR) + "/loops")) {
    if (entry.path().extension() != ".loop") continue;
    SCOPED_TRACE(entry.path().filename().string());
    const Request request = request_for("loops/" + entry.path().filename().string());
    const auto answer = answer_loop(request);
    ASSERT_TRUE(answer && answer->plan && answer->outcome.built->simulated);
    const report::Outcome& outcome = answer->outcome;
    EXPECT_TRUE(outcome.violations.empty());
    const Cycles bound = outcome.answer.lower_bound.value;
    EXPECT_LE(bound, outcome.answer.schedule->initiation_interval);
    for (const report::Candidate& it : outcome.candidates) {
      if (!it.chosen || it.note.find("transfers") == std::string::npos) continue;
      ++narrowed;
      EXPECT_EQ(outcome.answer.verdict, schedule::Verdict::feasible);
      const auto whole = solve::solve(problem_of(request.input.text));
      EXPECT_EQ(bound, whole.lower_bound.value) << "what is proven is about the whole loop";
    }
  }
  EXPECT_GT(narrowed, 0);
}

// Protects: if the fastest schedule has no plan, the bound is about schedules that can be built. A
// schedule chosen among alternatives is no answer, so only the bound on all schedules is claimed.
TEST(Transfers, TheBoundIsOfWhatCanBeBuilt) {
  Request request = request_for("loops/bwd_b1.loop");
  const auto answer = answer_loop(request);
  ASSERT_TRUE(answer && answer->plan && answer->outcome.with_room);
  EXPECT_EQ(answer->outcome.answer.lower_bound.value, 2802);
  EXPECT_EQ(answer->outcome.with_room->value, 4328);
  EXPECT_EQ(report::proven_bound(answer->outcome), 4328);
  EXPECT_LE(4328, *answer->outcome.built->simulated);
  const auto certified = certify_outcome(request, answer->outcome);
  ASSERT_TRUE(certified);
  EXPECT_TRUE(certified->warnings.empty());
  EXPECT_TRUE(certified->certificate.contains("with-room.proof"));
  request.alternatives.take = 1;
  const auto other = answer_loop(request);
  ASSERT_TRUE(other);
  EXPECT_FALSE(other->outcome.with_room);
}

/// The answer on the kernel's machine with that share of its shared memory. Fails if loop-invariant
/// buffers alone need more.
Result<PlannedLoop> answer_in(const Request& request, double share) {
  auto reading = read_once(request);
  if (!reading) throw std::runtime_error(to_string(reading.error()));
  reading->kernel->machine = machine::with_share_of_memory(reading->kernel->machine, share);
  return answer_reading(request, std::make_shared<const Reading>(*std::move(reading)), {});
}

// A loop that is proven infeasible with transfers has no plan without them.
TEST(Transfers, WhatIsInfeasibleWithTransfersHasNoPlan) {
  int infeasible = 0;
  int planned = 0;
  for (const char* kernel : {"fa_bwd_dq/sm_90/m128n64d128", "fa_fwd/sm_90/d64"}) {
    for (const double share : {1.0, 0.4, 0.32, 0.3}) {
      SCOPED_TRACE(std::string(kernel) + " " + std::to_string(share));
      Request request = request_for(std::string("kernels/") + kernel + ".pre.ttgir");
      request.limits.work_limit = 20'000'000;
      request.limits.hurry_after = 10'000'000;
      const auto delayed = answer_in(request, share);
      request.transfers = true;
      const auto handed = answer_in(request, share);
      ASSERT_EQ(delayed.has_value(), handed.has_value());
      if (!handed) continue;
      const bool none = handed->outcome.answer.verdict == schedule::Verdict::infeasible;
      infeasible += none ? 1 : 0;
      planned += delayed->plan ? 1 : 0;
      EXPECT_FALSE(none && delayed->plan);
    }
  }
  EXPECT_GT(infeasible, 0);
  EXPECT_GT(planned, 0);
}

// A loop in which no schedule leaves room for transfers has no plan, whatever replaces the best
// schedule.
TEST(Transfers, WhatIsCrampedHasNoPlan) {
  int cramped = 0;
  int planned = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    problem::Parts parts = solve_test::random_problem(random, {5, 2, 3, 1}).parts();
    for (problem::Op& op : parts.ops) op.footprint.clear();
    parts.memories = {{"SMEM", 1 + static_cast<Amount>(random() % 2000)}};
    const problem::Problem problem = problem::pose(std::move(parts)).value();
    Request request;
    request.input = {"random.loop", solve_test::text_of(problem)};
    const auto answer = answer_loop(request);
    if (!answer || !answer->outcome.answer.schedule) continue;
    std::uint64_t spent = 0;
    const bool is_one = is_cramped(problem, {}, spent);
    cramped += is_one ? 1 : 0;
    planned += answer->plan ? 1 : 0;
    EXPECT_FALSE(is_one && answer->plan) << seed << request.input.text;
  }
  EXPECT_GT(cramped, 3);
  EXPECT_GT(planned, 20);
}

problem::Parts with_longer_times(problem::Parts parts, std::mt19937& random) {
  for (problem::Op& op : parts.ops) {
    for (problem::Alternative& it : op.alternatives) {
      it.latency += static_cast<Cycles>(random() % 4);
      it.issue += static_cast<Cycles>(random() % 2);
      if (it.unit) it.occupancy += static_cast<Cycles>(random() % 3);
    }
  }
  for (problem::Dependence& it : parts.dependences)
    it.transfer += static_cast<Cycles>(random() % 2);
  return parts;
}

// A cramped loop is cramped with longer times, too, so the question need not be asked again.
TEST(Transfers, WhatIsCrampedStaysSoWithLongerTimes) {
  int cramped = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    problem::Parts parts = solve_test::random_problem(random, {5, 2, 3, 1}).parts();
    for (problem::Op& op : parts.ops) op.footprint.clear();
    parts.memories = {{"SMEM", 1 + static_cast<Amount>(random() % 500)}};
    const problem::Problem fast = problem::pose(parts).value();
    const auto slow = problem::pose(with_longer_times(parts, random));
    if (!slow) continue;
    EXPECT_TRUE(is_slowed_down(*slow, fast)) << seed;
    EXPECT_EQ(is_slowed_down(fast, *slow), fast == *slow) << seed;
    std::uint64_t spent = 0;
    if (!is_cramped(fast, {}, spent)) continue;
    ++cramped;
    EXPECT_TRUE(is_cramped(*slow, {}, spent)) << seed << solve_test::text_of(*slow);
  }
  EXPECT_GT(cramped, 10);
}

// A Problem that differs in more than times is not the same one slowed down.
TEST(Transfers, OnlyTimesMakeALoopASlowedDownOne) {
  std::mt19937 random(1);
  const problem::Problem fast = solve_test::random_problem(random, {5, 2, 3, 1});
  problem::Parts parts = fast.parts();
  parts.ops.front().registers += 1;
  EXPECT_TRUE(is_slowed_down(fast, fast));
  EXPECT_FALSE(is_slowed_down(problem::pose(parts).value(), fast));
}

// Groups whose transfer ops leave no schedule get no plan, even if the plan with delays instead is
// simulated to be fast. The chosen candidate can carry out its transfers.
TEST(Transfers, GroupsThatCannotAreRefused) {
  Request request = request_for("kernels/fa_fwd_causal/sm_90/d128.pre.ttgir");
  request.pool = "3x64";
  const auto answer = answer_loop(request);
  ASSERT_TRUE(answer && answer->plan);
  int refused = 0;
  for (const report::Candidate& it : answer->outcome.candidates) {
    const bool cannot = it.refused.find("do not fit into shared memory") != std::string::npos;
    refused += cannot ? 1 : 0;
    EXPECT_FALSE(cannot && it.chosen);
  }
  EXPECT_GT(refused, 0);
  EXPECT_EQ(why_no_transfer(request, *answer->reading, answer->outcome), std::nullopt);
}

}  // namespace
}  // namespace twill::driver
