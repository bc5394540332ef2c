#include <string>

#include <gtest/gtest.h>

#include "twill/driver/driver.h"

namespace twill::driver {
namespace {

Request request_for(const std::string& path) {
  auto input = read_input(std::string(TWILL_SOURCE_DIR) + "/" + path);
  if (!input) throw std::runtime_error(to_string(input.error()));
  Request request;
  request.input = *std::move(input);
  return request;
}

// A real kernel, from text to a checked optimum: the bracket encloses what is expected, every op
// says which lines of the kernel it stands for, and the answer is verified.
TEST(ScheduleLoop, FlashAttentionForHopper) {
  const auto outcome = schedule_loop(request_for("kernels/fa_fwd/sm_90/d128.pre.ttgir"));
  ASSERT_TRUE(outcome) << to_string(outcome.error());
  EXPECT_EQ(outcome->machine, "h200");
  EXPECT_TRUE(outcome->violations.empty());
  EXPECT_EQ(outcome->answer.verdict, schedule::Verdict::optimal);
  ASSERT_TRUE(outcome->bracket);
  EXPECT_LE(outcome->bracket->fastest, outcome->bracket->slowest);
  EXPECT_EQ(outcome->bracket->slowest, outcome->answer.schedule->initiation_interval);
  for (const problem::Op& op : outcome->problem.ops()) EXPECT_FALSE(op.source.empty()) << op.name;
}

// A search can be cancelled from outside; that is undecided or a gap, never a wrong claim.
TEST(ScheduleLoop, CanBeCancelled) {
  Request request = request_for("loops/fwd_h1big.loop");
  request.limits.cancelled = [] { return true; };
  const auto outcome = schedule_loop(request);
  ASSERT_TRUE(outcome);
  EXPECT_NE(outcome->answer.verdict, schedule::Verdict::optimal);
  EXPECT_NE(outcome->answer.verdict, schedule::Verdict::infeasible);
}

// Asking for what does not exist names what does.
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
