#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plan/plans.h"
#include "twill/plan/json.h"
#include "twill/plan/text.h"

// Protects: a plan says with which ops branches and effects of the loop are done. It also says
// which effects no role has, and which role has the warps of the launch. Printers only place them.
namespace twill::plan::testing {
namespace {

/// Two groups of four warps, with the rows of a product and two ops on them each.
constexpr const char* kParts = R"(
loop parts
unit TC
unit TMA
memory SMEM capacity 4
group L warps 1 loads
group A warps 4 registers 20
group B warps 4 registers 20
op ld on TMA for 2 latency 6 issue 1 warps 1 occupies SMEM 2 async streaming
op mmA on TC for 4 latency 6 issue 1 warps 4 registers 4 async
op mmB on TC for 4 latency 6 issue 1 warps 4 registers 4 async
op fA latency 2 issue 2 warps 4 registers 1
op fB latency 2 issue 2 warps 4 registers 1
op gA latency 2 issue 2 warps 4 registers 1
op gB latency 2 issue 2 warps 4 registers 1
ld -> mmA blocking
ld -> mmB blocking
mmA -> fA blocking
mmB -> fB blocking
fA -> gA
fB -> gB
)";

const OpId kLoad(0), kProductA(1), kFA(3), kFB(4), kGA(5), kGB(6);

Plan plan_with(const std::vector<WholeRequest>& wholes) {
  const auto loop = schedule::parse_loop(kParts, "test");
  const auto answer = solve::solve(loop->problem, {});
  const auto checked = verify::verify(loop->problem, *answer.schedule);
  Setting setting;
  setting.reserved = {{"SMEM", 16}};
  setting.kernel = Kernel{};
  setting.shares = {{}, {0}, {1}, {0}, {1}, {0}, {1}};
  setting.wholes = wholes;
  auto plan = draft_plan(*checked, setting);
  if (!plan) ADD_FAILURE() << to_string(plan.error());
  return *std::move(plan);
}

WholeRequest wanted(const std::string& what, const std::vector<OpId>& within, bool acts,
                    const std::vector<OpId>& needs, const std::string& objection) {
  WholeRequest request;
  request.what.place.what = what;
  request.what.objection = objection;
  request.within = within;
  request.acts = acts;
  request.needs = needs;
  return request;
}

// A branch is executed at the place of its last op of each part, however its ops are listed. Copies
// in a branch run ahead, so a branch of copies alone is no branch of the plan.
TEST(Wholes, BranchesAreDoneWithTheLastOpOfEachPart) {
  const Plan plan = plan_with({wanted("if @ 2:1", {kLoad, kFA, kFB, kGA, kGB}, false, {}, ""),
                               wanted("if @ 3:1", {kLoad}, false, {}, "")});
  ASSERT_EQ(plan.kernel->wholes.size(), 1U);
  const Whole& whole = plan.kernel->wholes[0];
  EXPECT_EQ(whole.placing, Placing::within);
  EXPECT_EQ(whole.ops, (std::vector{kFA, kFB, kGA, kGB}));
  EXPECT_EQ(whole.last, (std::vector{kGA, kGB}));
  EXPECT_TRUE(prove(plan).has_value());
  EXPECT_NE(to_text(plan).find("if @ 2:1  within gA, gB"), std::string::npos) << to_text(plan);
}

// An effect follows the last op that it needs. Without such an op it comes with the first product.
// A tile in flight has no values yet.
TEST(Wholes, EffectsFollowWhatTheyNeed) {
  const Plan plan = plan_with({wanted("print @ 2:1", {}, true, {kFA, kFB}, ""),
                               wanted("print @ 3:1", {}, true, {}, ""),
                               wanted("print @ 4:1", {}, true, {kProductA}, ""),
                               wanted("barrier @ 5:1", {}, true, {}, "is none of ours")});
  const std::vector<Whole>& wholes = plan.kernel->wholes;
  ASSERT_EQ(wholes.size(), 4U);
  EXPECT_EQ(wholes[0].placing, Placing::behind);
  EXPECT_EQ(wholes[0].last, (std::vector{kFA, kFB}));
  EXPECT_EQ(wholes[0].objection, "");
  EXPECT_EQ(wholes[1].last, std::vector{kProductA});
  EXPECT_NE(wholes[2].objection.find("while that is loaded or multiplied"), std::string::npos);
  EXPECT_EQ(wholes[3].objection, "is none of ours");
  EXPECT_NE(to_text(plan).find("print @ 3:1    behind mmA"), std::string::npos) << to_text(plan);
}

// Each part of a branch is checked: a branch before one of its ops is refused, and so are unknown
// ids.
TEST(Wholes, AreProven) {
  const Plan good = plan_with({wanted("if @ 2:1", {kFA, kFB, kGA, kGB}, false, {}, "")});
  const auto read = read_plan_json(plan_json(good), "test");
  ASSERT_TRUE(read.has_value()) << to_string(read.error());
  EXPECT_EQ(*read, good);
  Plan plan = good;
  plan.kernel->wholes[0].last = {kFA, kGB};
  expect_rule(plan, "ownership");
  plan.kernel->wholes[0].last = {OpId(9)};
  expect_rule(plan, "well-formed");
  plan.kernel->wholes[0].last.clear();
  expect_rule(plan, "well-formed");
  plan = good;
  plan.kernel->launch_role = RoleId(3);
  expect_rule(plan, "well-formed");
}

// The launch has whole warpgroups, so a role of one warp cannot run there. Of equal roles the first
// does.
TEST(LaunchRole, IsTheFirstOfTheWidestRoles) {
  const Plan plan = plan_with({});
  ASSERT_TRUE(plan.kernel->launch_role.has_value());
  EXPECT_EQ(plan[*plan.kernel->launch_role].warps, 4);
  const auto loop = schedule::parse_loop(kRegisters, "test");
  const auto answer = solve::solve(loop->problem, {});
  Setting setting;
  setting.kernel = Kernel{};
  const auto narrow = draft_plan(*verify::verify(loop->problem, *answer.schedule), setting);
  ASSERT_TRUE(narrow.has_value());
  EXPECT_FALSE(narrow->kernel->launch_role.has_value());  // warps 1 and 2
}

// Effects outside the loop come before the roles begin or after they end, and have no op.
TEST(Wholes, EffectsAroundTheLoopHaveNoOp) {
  WholeRequest request = wanted("atomic @ 9:1", {}, true, {}, "");
  request.what.placing = Placing::after_roles;
  Plan plan = plan_with({request});
  EXPECT_EQ(plan.kernel->wholes, std::vector{request.what});
  EXPECT_NE(to_text(plan).find("atomic @ 9:1  after-roles"), std::string::npos) << to_text(plan);
  EXPECT_TRUE(prove(plan).has_value());
  plan.kernel->wholes[0].last = {kFA};
  expect_rule(plan, "well-formed");
}

}  // namespace
}  // namespace twill::plan::testing
