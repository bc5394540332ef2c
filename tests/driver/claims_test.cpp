#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "driver/request.h"
#include "twill/driver/plan_loop.h"
#include "twill/plan/json.h"
#include "twill/report/schedule_json.h"
#include "twill/report/story.h"

// Protects: an answer claims all that is proven of it, and no more.
namespace twill::driver {
namespace {

using schedule::Verdict;

/// The request's certificate, as the check accepts it.
certify::Checked certified(const Request& request) {
  const auto made = certify_loop(request);
  if (!made) throw std::runtime_error(to_string(made.error()));
  const auto checked = check_certificate(made->certificate, request.input, request.machine);
  if (!checked) throw std::runtime_error(to_string(checked.error()));
  EXPECT_FALSE(checked->rejection.has_value());
  return *checked;
}

// If no plan carries out the optimum, another schedule with the same values is an optimum as well.
// (Such answers were called feasible. Their certificates proved no bound, or 1325 instead of 1355.)
TEST(Claims, AnotherOptimumIsOne) {
  for (const auto& [loop, interval] :
       {std::pair("loops/bwd_b2.loop", 2560), std::pair("loops/meta_fwd.loop", 1355)}) {
    SCOPED_TRACE(loop);
    const Request request = request_for(loop);
    const auto answer = answer_loop(request);
    ASSERT_TRUE(answer && answer->plan);
    EXPECT_GT(answer->outcome.alternative, 0);
    EXPECT_GT(answer->outcome.work, answer->outcome.answer.work);
    EXPECT_EQ(answer->outcome.answer.verdict, Verdict::optimal);
    for (const schedule::ObjectiveValue& it : answer->outcome.answer.objectives) {
      EXPECT_TRUE(it.proven) << it.name;
      EXPECT_EQ(it.bound, it.value) << it.name;
    }
    const certify::Checked checked = certified(request);
    EXPECT_EQ(checked.verdict, Verdict::optimal);
    EXPECT_EQ(checked.interval_bound, interval);
  }
}

// A slower schedule in place of the optimum keeps the bound for all schedules, beside the bound for
// schedules that can be built.
TEST(Claims, TheCertificateHasTheBoundOfTheAnswer) {
  const Request request = request_for("loops/bwd_b1.loop");
  const auto answer = answer_loop(request);
  ASSERT_TRUE(answer && answer->plan);
  EXPECT_EQ(answer->outcome.answer.verdict, Verdict::feasible);
  EXPECT_EQ(report::proven_bound(answer->outcome), 4328);
  EXPECT_EQ(certified(request).bound_with_room, 4328);
  EXPECT_EQ(certified(request).interval_bound, 2802);
}

// An imported schedule of a kernel may have the slowest costs while its plan runs at others. The
// bound beside its simulated figure is the bound of all schedules (3169 was shown beside 2421.8
// simulated).
TEST(Claims, NoBoundStandsAboveAnImportedScheduleThatIsFaster) {
  Request request = request_for("kernels/fa_fwd/sm_90/d128.pre.ttgir");
  const auto answer = answer_loop(request);
  ASSERT_TRUE(answer && answer->plan);
  request.imported = Input{"given.json", report::schedule_json(answer->outcome, {})};
  const auto again = answer_loop(request);
  ASSERT_TRUE(again && again->plan && again->outcome.built);
  EXPECT_EQ(again->outcome.built->simulated, answer->outcome.built->simulated);
  EXPECT_EQ(report::proven_bound(again->outcome), report::proven_bound(answer->outcome));
}

// Machine files of one chip give one answer. (The H100 got a plan at II 2092 that ptxas serializes,
// the H200 a plan at 3169: their files had different prices for loads.)
TEST(Claims, OneChipOneAnswer) {
  const std::string kernel = "kernels/fa_fwd/sm_90/d128.pre.ttgir";
  Request request = request_for(kernel);
  const auto plan_on = [&request](const std::string& machine) {
    request.machine = machine;
    const auto answer = answer_loop(request);
    if (!answer || !answer->plan) throw std::runtime_error("no plan on " + machine);
    plan::Plan plan = answer->plan->plan();
    plan.limits.machine.clear();
    return plan::plan_json(plan);
  };
  EXPECT_TRUE(plan_on("h100") == plan_on("h200"));
}

// Claims about schedules with room for transfers are reported also if no plan is found. (Such
// claims were lost together with the refused schedules.)
TEST(Claims, NoRoomForTransfersIsSaid) {
  const std::string loop =
      "loop x\nminimum-compute-groups 2\nunit A\nunit B\nunit TMA\nmemory SMEM capacity 4096\n"
      "group L warps 1 loads\ngroup G0 registers 8\ngroup G1 registers 8\n"
      "op load on TMA for 2 latency 4 warps 1 occupies SMEM 1 async streaming\n"
      "op make on A for 4 latency 4 registers 8\nop use on B for 4 latency 4\n"
      "load -> make blocking read-hold 1\nmake -> use transfer 2\n";
  Request request;
  request.input = {"x.loop", loop};
  const auto answer = answer_loop(request);
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_TRUE(answer->refusal);
  const std::vector<std::string>& notes = answer->outcome.notes;
  EXPECT_EQ(std::count(notes.begin(), notes.end(),
                       "no schedule has room for its buffers and a copy of each value that it "
                       "transfers, proven"),
            1);
}

// An order whose least II leaves too little memory for its values becomes a schedule at a larger
// II.
TEST(Claims, AnOrderGetsTheRoomThatItNeeds) {
  // Two iterations meet at II 6: a lives for 10 cycles, and M holds one of it.
  const std::string loop =
      "loop x\nunit U\nmemory M capacity 1\ngroup G\ngroup H\n"
      "op a on U for 6 latency 10 occupies M 1\nop b\na -> b\n";
  const std::string order = "order\n  group G: a\n  group H: b\n";
  const auto kept = evaluate_order({"x.loop", loop + order});
  ASSERT_TRUE(kept) << to_string(kept.error());
  EXPECT_TRUE(kept->violations.empty());
  EXPECT_EQ(kept->answer.schedule->initiation_interval, 10);
  ASSERT_EQ(kept->notes.size(), 1U);
  EXPECT_NE(kept->notes.front().find("its sequences alone allow II 6"), std::string::npos);
}

// If no II leaves enough memory, the message says which II were tried.
TEST(Claims, AnOrderWithoutRoomIsNone) {
  const std::string loop =
      "loop x\nmemory M capacity 1\ngroup G\nop a latency 10 occupies M 2\nop b\na -> b\n";
  const auto kept = evaluate_order({"x.loop", loop + "order\n  group G: a b\n"});
  ASSERT_TRUE(kept) << to_string(kept.error());
  EXPECT_FALSE(kept->violations.empty());
  ASSERT_EQ(kept->notes.size(), 1U);
  EXPECT_NE(kept->notes.front().find("at any larger II that was tried"), std::string::npos);
}

}  // namespace
}  // namespace twill::driver
