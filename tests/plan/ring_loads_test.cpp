#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plan/plans.h"
#include "twill/plan/json.h"
#include "twill/plan/text.h"

// Protects: a plan says which loads of loops after the planned loop use its rings, and which role
// begins them. A plan whose rings could not go on is never proven.
namespace twill::plan::testing {
namespace {

/// Two groups of four warps, with the rows of a product each, of two tiles that are loaded.
constexpr const char* kTwoRings = R"(
loop rings
unit TC
unit TMA
memory SMEM capacity 8
group L warps 1 loads
group A warps 4 registers 6
group B warps 4 registers 6
op k on TMA for 2 latency 6 issue 1 warps 1 occupies SMEM 1 async streaming
op v on TMA for 2 latency 6 issue 1 warps 1 occupies SMEM 1 async streaming
op mmA on TC for 4 latency 6 issue 1 warps 4 registers 4 async
op mmB on TC for 4 latency 6 issue 1 warps 4 registers 4 async
op nA on TC for 4 latency 6 issue 1 warps 4 registers 4 async
op nB on TC for 4 latency 6 issue 1 warps 4 registers 4 async
k -> mmA blocking
k -> mmB blocking
v -> nA blocking
v -> nB blocking
mmA -> nA in-place
mmB -> nB in-place
nA -> mmA in-place distance 1
nB -> mmB in-place distance 1
)";

const OpId kK(0), kV(1), kScores(2), kEndA(4), kEndB(5);

LoadRequest tile_like(const std::vector<OpId>& like) {
  LoadRequest load;
  load.load = {"load @ 7:1", 7, 1};
  load.like = like;
  load.runs_ahead = true;
  load.by_descriptor = true;
  return load;
}

PerTileRequest loop_behind(std::vector<LoadRequest> loads) {
  PerTileRequest loop;
  loop.what.when = PerTileOp::When::after;
  loop.what.what = "for @ 6:1";
  loop.uses = {kEndA, kEndB};
  loop.loads = std::move(loads);
  return loop;
}

Plan plan_with_loops(const std::vector<PerTileRequest>& loops, Tiles tiles = Tiles::program_loop,
                     const std::string& text = kTwoRings) {
  const auto loop = schedule::parse_loop(text, "test");
  const auto answer = solve::solve(loop->problem, {});
  const auto checked = verify::verify(loop->problem, *answer.schedule);
  Setting setting;
  setting.reserved = {{"SMEM", 16}};
  setting.kernel = Kernel{};
  setting.kernel->tiles = tiles;
  setting.shares = {{}, {}, {0}, {1}, {0}, {1}};
  setting.per_tile_ops = loops;
  auto plan = draft_plan(*checked, setting);
  if (!plan) ADD_FAILURE() << to_string(plan.error());
  return *std::move(plan);
}

Plan rings_plan(Tiles tiles = Tiles::program_loop) {
  return plan_with_loops({loop_behind({tile_like({kK, kV}), tile_like({kK, kV})})}, tiles);
}

std::string words_in(const Plan& plan, const std::vector<Step>& steps) {
  std::string text;
  for (const Step& step : steps) text += to_text(plan, step) + "; ";
  return text;
}

TEST(RingLoads, TheLoaderBeginsThemAndTheReadersReleaseThem) {
  for (const Tiles tiles : {Tiles::one_per_cta, Tiles::program_loop}) {
    Plan plan = rings_plan(tiles);
    const PerTileOp& loop = plan.kernel->per_tile_ops[0];
    ASSERT_EQ(loop.loads.size(), 2U);
    EXPECT_EQ(loop.loads[0].copy, kK);
    EXPECT_EQ(loop.loads[1].copy, kV);
    EXPECT_EQ(words_in(plan, role_named(plan, "L").after), "issue for @ 6:1 [t]; ");
    EXPECT_EQ(words_in(plan, role_named(plan, "A").after), "compute for @ 6:1 [t]; ");
    const auto proven = prove(plan);
    EXPECT_TRUE(proven.has_value()) << text_of(proven.error());
    const auto read = read_plan_json(plan_json(plan), "test");
    ASSERT_TRUE(read.has_value()) << to_string(read.error());
    EXPECT_EQ(*read, plan);
    EXPECT_NE(to_text(plan).find("for @ 6:1 goes on with rings: load @ 7:1 as k, load @ 7:1 as v"),
              std::string::npos)
        << to_text(plan);
  }
}

// A tile without a ring is loaded by the roles that need it. Either all boxes of a loop have rings,
// or none has.
TEST(RingLoads, AreThereForWhatALoaderCanBring) {
  const auto rings = [](LoadRequest second, Tiles tiles) {
    return plan_with_loops({loop_behind({tile_like({kK}), std::move(second)})}, tiles)
        .kernel->per_tile_ops[0]
        .loads.size();
  };
  LoadRequest late = tile_like({kV});
  late.runs_ahead = false;
  EXPECT_EQ(rings(late, Tiles::one_per_cta), 0U);
  late.by_descriptor = false;
  EXPECT_EQ(rings(late, Tiles::one_per_cta), 1U);
  EXPECT_EQ(rings(tile_like({kK}), Tiles::one_per_cta), 0U) << "each load has a ring of its own";
  PerTileRequest one = loop_behind({tile_like({kK}), tile_like({kV})});
  one.uses = {kEndA};  // B releases nothing there
  EXPECT_TRUE(plan_with_loops({one}).kernel->per_tile_ops[0].loads.empty());
}

// A role that computes the loop behind cannot run ahead of itself: `block_mask` of
// tests/emit/kinds, planned by strategy sequential, issued and computed the same loop.
TEST(RingLoads, AreNotThereWithoutALoaderOfTheirOwn) {
  const auto without = [](std::string text, const std::string& words, const std::string& other) {
    for (auto at = text.find(words); at != std::string::npos; at = text.find(words)) {
      text.replace(at, words.size(), other);
    }
    return text;
  };
  std::string text = without(kTwoRings, "group L warps 1 loads\n", "");
  text = without(without(std::move(text), "warps 1", "warps 4"), " streaming", "");
  const Plan plan = plan_with_loops({loop_behind({tile_like({kK, kV}), tile_like({kK, kV})})},
                                    Tiles::program_loop, text);
  EXPECT_TRUE(plan.kernel->per_tile_ops[0].loads.empty());
  EXPECT_TRUE(prove(plan).has_value());
}

// Roles count slots and phases by depth. So only the last of all loops may leave a ring behind.
TEST(RingLoads, RingsOfADepthGoOnTogether) {
  LoadRequest own = tile_like({kV});
  own.runs_ahead = own.by_descriptor = false;
  const std::vector<PerTileRequest> loops = {loop_behind({tile_like({kK}), own}),
                                             loop_behind({tile_like({kK}), own})};
  const Plan once = plan_with_loops(loops, Tiles::one_per_cta);
  ASSERT_EQ(once[*once.values[0].home].depth, once[*once.values[1].home].depth);
  EXPECT_EQ(once.kernel->per_tile_ops[0].loads.size(), 1U);
  EXPECT_TRUE(once.kernel->per_tile_ops[1].loads.empty());
  EXPECT_TRUE(prove(once).has_value());
  EXPECT_TRUE(plan_with_loops(loops).kernel->per_tile_ops[0].loads.empty());
  Plan wrong = once;
  wrong.kernel->tiles = Tiles::program_loop;  // the next tile would find the rings apart
  EXPECT_EQ(rule_of(wrong), "rings");
}

TEST(RingLoads, NothingOfThemCanBeLeftOut) {
  const Plan good = rings_plan();
  const auto changed = [&](const auto& change) {
    Plan plan = good;
    change(plan, plan.kernel->per_tile_ops[0]);
    return rule_of(plan);
  };
  const auto drop = [](Plan& plan, const char* role) { role_named(plan, role).after.clear(); };
  EXPECT_EQ(changed([&](Plan& plan, PerTileOp&) { drop(plan, "L"); }), "ownership");
  EXPECT_EQ(changed([&](Plan& plan, PerTileOp&) { drop(plan, "B"); }), "ownership");
  EXPECT_EQ(changed([](Plan&, PerTileOp& loop) { loop.roles.pop_back(); }), "rings");
  EXPECT_EQ(changed([](Plan&, PerTileOp& loop) { loop.loads[0].copy = kScores; }), "ownership");
  EXPECT_EQ(changed([](Plan&, PerTileOp& loop) { loop.loads[0].copy = kV; }), "rings");
  EXPECT_EQ(changed([](Plan&, PerTileOp& loop) { loop.loads[0].copy = OpId(77); }), "well-formed");
  EXPECT_EQ(changed([](Plan&, PerTileOp& loop) { loop.alone = true; }), "well-formed");
}

// A loop of many iterations needs all of its roles at once. So no role may wait, before the loop,
// for a step of another role after it. A loop without iterations would be safe.
TEST(RingLoads, NoRoleWaitsInFrontForWhatComesBehind) {
  Plan plan = rings_plan(Tiles::one_per_cta);
  Channel said;
  said.name = "said";
  said.kind = ChannelKind::signal;
  said.counts = Channel::Counts::tiles;
  for (std::size_t r = 0; r < plan.roles.size(); ++r) {
    if (plan.roles[r].name == "A") said.producer = RoleId(r);
    if (plan.roles[r].name == "L") said.consumers = {RoleId(r)};
  }
  said.full_arrivals = 4;
  const ChannelId id(plan.channels.size());
  plan.channels.push_back(said);
  Step step;
  step.instance = {Instance::From::tile, 0};
  step.channel = id;
  step.kind = StepKind::commit;
  auto& speaks = role_named(plan, "A").after;
  auto& listens = role_named(plan, "L").after;
  speaks.insert(speaks.begin(), step);
  step.kind = StepKind::wait;
  listens.insert(listens.begin(), step);
  const auto proven = prove(plan);
  EXPECT_TRUE(proven.has_value()) << text_of(proven.error());
  std::swap(speaks.front(), speaks.back());  // after the loop
  EXPECT_EQ(rule_of(plan), "deadlock");
}

}  // namespace
}  // namespace twill::plan::testing
