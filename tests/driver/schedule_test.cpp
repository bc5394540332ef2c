#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "driver/request.h"
#include "twill/driver/emit_cuda.h"
#include "twill/driver/plan_loop.h"
#include "twill/schedule/corun.h"

namespace twill::driver {
namespace {

// Schedules a real kernel, from text to a checked optimum. The bracket encloses the expected
// interval, every op names its lines of the kernel, and the answer is verified.
TEST(ScheduleLoop, FlashAttentionForHopper) {
  const auto outcome = schedule_loop(request_for("kernels/fa_fwd/sm_90/d128.pre.ttgir"));
  ASSERT_TRUE(outcome) << to_string(outcome.error());
  EXPECT_EQ(outcome->machine, "h200");
  EXPECT_TRUE(outcome->violations.empty());
  EXPECT_EQ(outcome->answer.verdict, schedule::Verdict::optimal);
  ASSERT_TRUE(outcome->bracket);
  EXPECT_LE(outcome->bracket->fastest, outcome->bracket->slowest);
  EXPECT_EQ(outcome->rate, "slowest");
  EXPECT_EQ(outcome->bracket->slowest, outcome->answer.schedule->initiation_interval);
  for (const problem::Op& op : outcome->problem.ops()) EXPECT_FALSE(op.source.empty()) << op.name;
}

// Without plans, the kept candidate is the fastest by expected interval, or one that the co-run
// model cannot distinguish from it. Every candidate is within its own bracket.
TEST(ScheduleLoop, KeepsTheEndThatIsExpectedToBeFaster) {
  for (const char* kernel : {"fa_fwd/sm_90/d128", "fa_fwd/sm_90/d64", "fa_fwd/sm_100/d128",
                             "gemm/sm_90/tma_128x128x64", "fa_bwd/sm_100/m64n128d64_tmared"}) {
    SCOPED_TRACE(kernel);
    const auto outcome =
        schedule_loop(request_for(std::string("kernels/") + kernel + ".pre.ttgir"));
    ASSERT_TRUE(outcome) << to_string(outcome.error());
    const report::Candidate* chosen = nullptr;
    for (const report::Candidate& it : outcome->candidates) {
      if (it.chosen) chosen = &it;
    }
    ASSERT_NE(chosen, nullptr);
    EXPECT_EQ(chosen->rate, outcome->rate);
    EXPECT_EQ(chosen->pool, outcome->pool);
    EXPECT_EQ(chosen->interval, outcome->answer.schedule->initiation_interval);
    for (const report::Candidate& it : outcome->candidates) {
      if (!it.expected || !it.slowest) continue;
      EXPECT_LE(static_cast<double>(*chosen->expected), 1.036 * static_cast<double>(*it.expected));
      EXPECT_LE(outcome->bracket->fastest, *it.expected + 1);
      if (it.rate == "fastest") {
        EXPECT_EQ(outcome->bracket->fastest, *it.interval);
      }
    }
  }
}

// Transfer ops take time: a third group that receives whole tiles has the smaller interval at the
// slowest rates. That group only fetches tiles, and the expected interval is larger.
TEST(ScheduleLoop, TransfersAreExpectedToTakeTime) {
  const auto outcome = schedule_loop(request_for("kernels/gemm_rowsum/sm_90/128x128x64.pre.ttgir"));
  ASSERT_TRUE(outcome) << to_string(outcome.error());
  const auto& all = outcome->candidates;
  const auto chosen =
      std::find_if(all.begin(), all.end(), [](const report::Candidate& it) { return it.chosen; });
  ASSERT_NE(chosen, all.end());
  EXPECT_EQ(chosen->transfer_work, 0);
  const auto other = std::find_if(all.begin(), all.end(), [&](const report::Candidate& it) {
    return it.transfer_work > 0 && it.slowest && *it.slowest < *chosen->slowest;
  });
  ASSERT_NE(other, all.end());
  EXPECT_GT(static_cast<double>(*other->expected),
            schedule::kCoRunError * static_cast<double>(*chosen->expected));
}

// Users can ask for either rate; the lower end of the bracket stays.
TEST(ScheduleLoop, RateCanBeAskedFor) {
  Request request = request_for("kernels/fa_fwd/sm_90/d128.pre.ttgir");
  request.rate = machine::Rate::fastest;
  const auto fastest = schedule_loop(request);
  ASSERT_TRUE(fastest);
  EXPECT_EQ(fastest->rate, "fastest");
  EXPECT_EQ(fastest->answer.schedule->initiation_interval, fastest->bracket->fastest);
  EXPECT_TRUE(fastest->violations.empty());
  request.rate = machine::Rate::slowest;
  const auto slowest = schedule_loop(request);
  ASSERT_TRUE(slowest);
  EXPECT_EQ(slowest->rate, "slowest");
  EXPECT_EQ(slowest->answer.schedule->initiation_interval, slowest->bracket->slowest);
  EXPECT_EQ(slowest->bracket->fastest, fastest->bracket->fastest);
}

// Protects: the requested rate decides. Here loads come late, so the loop is planned again with
// their latency. That plan is simulated to be faster, but has the other rate.
TEST(ScheduleLoop, LateLoadsChangeNotTheRateThatWasAskedFor) {
  Request request = request_for("kernels/fa_fwd/sm_90/d128m64.pre.ttgir");
  request.rate = machine::Rate::slowest;
  request.pool = "2x64";
  const auto outcome = schedule_loop(request);
  ASSERT_TRUE(outcome && outcome->built && outcome->built->planned);
  EXPECT_EQ(outcome->rate, "slowest");
}

// Protects: among candidates that the simulator cannot distinguish, the co-run model's figure
// decides, with the addition of late loads, for any door. Otherwise `schedule` takes the candidate
// at the slowest rates, which CUDA does not print. Its loads come late, so planning again gives
// another, slower plan than `emit cuda`.
TEST(ScheduleLoop, LateLoadsCountInTheFirstWalkWithAndWithoutADoor) {
  Request request = request_for("kernels/fa_fwd/sm_90/d128m64.pre.ttgir");
  request.machine = "h200";
  const auto shown = answer_loop(request);
  const auto printed = answer_loop(request, {true, &cuda_door()});
  ASSERT_TRUE(shown && shown->outcome.built && shown->outcome.built->simulated);
  ASSERT_TRUE(printed && printed->plan && printed->outcome.built);
  EXPECT_FALSE(printed->unprinted);
  EXPECT_EQ(shown->outcome.built->simulated, printed->outcome.built->simulated);
  EXPECT_EQ(shown->outcome.answer.schedule->initiation_interval,
            printed->outcome.answer.schedule->initiation_interval);
  EXPECT_FALSE(shown->outcome.load_latency);
  EXPECT_LT(*shown->outcome.built->simulated, 1400);  // the other candidates have 1490 and 1460
  for (const report::Candidate& it : shown->outcome.candidates) {
    if (it.pool != "2x64" || it.rate != "slowest") continue;
    EXPECT_LT(it.expected, shown->outcome.bracket->expected);  // the co-run model prefers it
    EXPECT_GT(it.late_loads, 200);
  }
}

// A search can be cancelled from outside. The result is undecided or has a gap, and makes no wrong
// claim.
TEST(ScheduleLoop, CanBeCancelled) {
  Request request = request_for("loops/fwd_h1big.loop");
  request.limits.cancelled = [] { return true; };
  const auto outcome = schedule_loop(request);
  ASSERT_TRUE(outcome);
  EXPECT_NE(outcome->answer.verdict, schedule::Verdict::optimal);
  EXPECT_NE(outcome->answer.verdict, schedule::Verdict::infeasible);
}

// A request with an unknown name is refused with a list of known names.
TEST(ScheduleLoop, WrongRequestsAreExplained) {
  Request request = request_for("kernels/fa_fwd/sm_90/d128.pre.ttgir");
  request.machine = "h201";
  auto outcome = schedule_loop(request);
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().hint.find("h20"), std::string::npos) << outcome.error().hint;
  request.machine = "h200";
  request.pool = "nothing";
  outcome = schedule_loop(request);
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find("no pool named"), std::string::npos);
}

}  // namespace
}  // namespace twill::driver
