#include <gtest/gtest.h>

#include "plan/plans.h"
#include "twill/plan/proof/run.h"

// Protects critical regions: in every interleaving and for every trip count the roles enter them
// one after the other, each once per iteration. A plan without a part of the turns is rejected.
namespace twill::plan::testing {
namespace {

bool over(const proof::Run& run, OpId first, std::int64_t i, OpId second, std::int64_t j) {
  return run.before_or_same(run.execution(first, i).end[0], run.execution(second, j).begin[0]);
}

TEST(Regions, AreEnteredInTurns) {
  const Plan plan = plan_of_regions();
  const auto proven = prove(plan);
  ASSERT_TRUE(proven.has_value()) << text_of(proven.error()) << to_text(plan);
  EXPECT_EQ(plan.notes, std::vector<std::string>{"two regions"});
  const proof::Tables tables(plan);
  proof::Run run(tables);
  for (std::int64_t trips = 0; trips < 8; ++trips) {
    proof::Findings findings;
    run.lay_out({trips}, findings);
    ASSERT_TRUE(findings.empty() && run.settle(findings));
    for (std::int64_t n = 0; n < trips; ++n) {
      EXPECT_TRUE(over(run, OpId(2), n, OpId(4), n)) << trips;  // ga, fb
      // Products are started in turns; the tensor core runs them one after the other by itself.
      EXPECT_TRUE(
          run.before(run.execution(OpId(0), n).begin[0], run.execution(OpId(3), n).begin[0]));
      if (n + 1 == trips) continue;
      EXPECT_TRUE(over(run, OpId(5), n, OpId(1), n + 1)) << trips;  // gb, fa
    }
  }
}

TEST(Regions, NoTurnCanBeLeftOut) {
  const Plan good = plan_of_regions();
  for (std::size_t c = 0; c < good.channels.size(); ++c) {
    if (good.channels[c].kind != ChannelKind::token) continue;
    for (const StepKind kind : {StepKind::pass, StepKind::take}) {
      Plan plan = good;
      const int dropped = drop(plan, [&](const Step& step) {
        return step.kind == kind && step.channel == ChannelId(c);
      });
      EXPECT_GT(dropped, 0);
      EXPECT_FALSE(prove(plan).has_value()) << good.channels[c].name;
    }
  }
}

// Two regions are two pairs of named barriers.
TEST(Regions, HaveTwoNamedBarriersEach) {
  const Plan plan = plan_of_regions();
  std::vector<int> barriers;
  for (const Channel& channel : plan.channels) {
    if (channel.kind == ChannelKind::token) barriers.push_back(channel.named_barrier);
  }
  EXPECT_EQ(barriers, (std::vector<int>{1, 2, 3, 4}));
}

}  // namespace
}  // namespace twill::plan::testing
