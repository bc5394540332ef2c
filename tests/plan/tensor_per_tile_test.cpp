#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plan/plans.h"
#include "twill/plan/json.h"
#include "twill/plan/text.h"

// Protects values that enter and leave the loop in tensor memory. Roles that reach all lanes write
// them before the loop. They are read after the last product is done, and before the next tile
// writes there. Omitting any of these steps is found.
namespace twill::plan::testing {
namespace {

/// Products by one warp, and four warps without a share in the loop.
constexpr const char* kProduct = R"(
loop product
unit TC
unit TMA
memory SMEM capacity 4
memory TMEM capacity 4
group L warps 1 loads
group M warps 1 registers 4
group E warps 4 registers 20
op ld on TMA for 2 latency 6 issue 1 warps 1 occupies SMEM 2 async streaming
op mm on TC for 4 latency 6 issue 1 warps 1 occupies TMEM 2 async
ld -> mm blocking
mm -> mm distance 1 delay 0 in-place
)";

/// The last product alone counts.
constexpr const char* kFresh = R"(
loop fresh
unit TC
unit TMA
memory SMEM capacity 4
memory TMEM capacity 4
group L warps 1 loads
group M warps 1 registers 4
group E warps 4 registers 20
op ld on TMA for 2 latency 6 issue 1 warps 1 occupies SMEM 2 async streaming
op mm on TC for 4 latency 6 issue 1 warps 1 occupies TMEM 2 async
ld -> mm blocking
)";

/// The same accumulator, which four warps rescale in the loop.
constexpr const char* kRescaled = R"(
loop rescaled
unit TC
unit TMA
memory SMEM capacity 4
memory TMEM capacity 4
group L warps 1 loads
group M warps 1
group E warps 4 registers 20
op ld on TMA for 2 latency 6 issue 1 warps 1 occupies SMEM 2 async streaming
op fix latency 1 issue 1 warps 4
op mm on TC for 4 latency 6 issue 1 warps 1 occupies TMEM 2 async
ld -> mm blocking
mm -> fix distance 1 blocking
fix -> mm blocking in-place
mm -> mm distance 1 delay 0 in-place
)";

/// Three products of an iteration add to one accumulator.
constexpr const char* kThree = R"(
loop three
unit TC
unit TMA
memory SMEM capacity 8
memory TMEM capacity 4
group L warps 1 loads
group M warps 1 registers 4
op ld on TMA for 2 latency 6 issue 1 warps 1 occupies SMEM 2 async streaming
op m0 on TC for 4 latency 6 issue 1 warps 1 async
op m1 on TC for 4 latency 6 issue 1 warps 1 async
op m2 on TC for 4 latency 6 issue 1 warps 1 occupies TMEM 2 async
ld -> m0 blocking
ld -> m1 blocking
ld -> m2 blocking
m0 -> m1 delay 4 in-place
m1 -> m2 delay 4 in-place
m2 -> m0 distance 1 delay 4 in-place
m2 -> m2 distance 1 delay 0 in-place
)";

/// The loop as a kernel that stores its accumulator; with `fills`, also fills it. With `kept`, the
/// last product and the store also read a tile.
Plan kernel_plan(const char* text, Tiles tiles, bool fills = true, bool same_trips = false,
                 bool kept = false) {
  const auto loop = schedule::parse_loop(text, "test");
  const auto answer = solve::solve(loop->problem, {});
  const auto checked = verify::verify(loop->problem, *answer.schedule);
  const OpId product(loop->problem.ops().size() - 1);
  Setting setting;
  setting.kernel = Kernel{};
  setting.kernel->tiles = tiles;
  setting.kernel->same_trips = same_trips;
  setting.mechanisms.resize(loop->problem.ops().size());
  setting.mechanisms.back() = Mechanism::tcgen05;
  PerTileRequest fill;
  fill.what.what = "zero @ 1:1";
  if (fills) fill.tensor = {product};
  PerTileRequest read;
  read.what.when = PerTileOp::When::after;
  read.what.what = "read @ 3:1";
  read.uses = {product};
  read.tensor = {product};
  PerTileRequest store = read;
  store.what.what = "store @ 4:1";
  store.what.writes = true;
  store.tensor.clear();
  if (kept) store.reads = {0};
  setting.per_tile_ops = {fill, read, store};
  if (kept) {
    Buffer invariant_buffer;
    invariant_buffer.name = "Q";
    invariant_buffer.memory = "SMEM";
    invariant_buffer.size = 2;
    invariant_buffer.invariant_buffer = true;
    invariant_buffer.readers = {product};
    setting.invariant_buffers = {invariant_buffer};
    setting.reserved = {{"SMEM", 16}};
    PerTileRequest load;
    load.what.what = "copy @ 0:1";
    load.what.mechanism = Mechanism::tma_load;
    load.invariant_buffer = 0;
    setting.per_tile_ops.insert(setting.per_tile_ops.begin(), load);
  }
  auto plan = draft_plan(*checked, setting);
  if (!plan) ADD_FAILURE() << to_string(plan.error());
  return *std::move(plan);
}

std::string in_words(const Plan& plan, const std::vector<Step>& steps) {
  std::string text;
  for (const Step& step : steps) text += to_text(plan, step) + "; ";
  return text;
}

TEST(TensorPerTile, IsDoneByWarpsThatReachAllLanesAndHandedOver) {
  Plan plan = kernel_plan(kProduct, Tiles::persistent);
  EXPECT_EQ(plan.kernel->tiles, Tiles::persistent);
  EXPECT_TRUE(plan.notes.empty()) << plan.notes.front();
  EXPECT_EQ(in_words(plan, role_named(plan, "E").before),
            "compute zero @ 1:1 [t]; fence tensor-before; commit mm for M [t]; ");
  EXPECT_EQ(in_words(plan, role_named(plan, "M").before),
            "wait mm for M [t]; fence tensor-after; ");
  EXPECT_EQ(in_words(plan, role_named(plan, "M").after),
            "commit mm of M [t] when tcgen05 is done; ");
  EXPECT_EQ(in_words(plan, role_named(plan, "E").after),
            "wait mm of M [t]; fence tensor-after; compute read @ 3:1 [t]; "
            "compute store @ 4:1 [t]; ");
}

// Without a step that fills the place, it is released when it has been read.
TEST(TensorPerTile, WhatIsReadIsGivenBack) {
  Plan plan = kernel_plan(kFresh, Tiles::persistent, false);
  EXPECT_EQ(in_words(plan, role_named(plan, "M").before),
            "acquire mm of M [t]; fence tensor-after; ");
  EXPECT_EQ(in_words(plan, role_named(plan, "M").after),
            "commit mm of M [t] when tcgen05 is done; ");
  EXPECT_EQ(in_words(plan, role_named(plan, "E").after),
            "wait mm of M [t]; fence tensor-after; compute read @ 3:1 [t]; "
            "fence tensor-before; release mm of M [t]; compute store @ 4:1 [t]; ");
}

TEST(TensorPerTile, IsProvenHoweverTilesCome) {
  for (const char* text : {kProduct, kFresh, kRescaled}) {
    for (const Tiles tiles : {Tiles::one_per_cta, Tiles::program_loop, Tiles::persistent}) {
      for (const bool same : {true, false}) {
        const Plan plan = kernel_plan(text, tiles, text != kFresh, same);
        EXPECT_EQ(plan.kernel->tiles, tiles);
        const auto proven = prove(plan);
        EXPECT_TRUE(proven.has_value()) << text_of(proven.error()) << to_text(plan);
        const auto read = read_plan_json(plan_json(plan), "test");
        ASSERT_TRUE(read.has_value()) << to_string(read.error());
        EXPECT_EQ(*read, plan);
      }
    }
  }
}

// Roles that read a tile release it after their read, even if other roles read it later. (A product
// of the loop once did not release operands that other roles read after the loop.)
TEST(TensorPerTile, EachRoleGivesBackWhatItHasRead) {
  for (const Tiles tiles : {Tiles::one_per_cta, Tiles::persistent}) {
    Plan plan = kernel_plan(kProduct, tiles, true, false, true);
    const auto proven = prove(plan);
    EXPECT_TRUE(proven.has_value()) << text_of(proven.error()) << to_text(plan);
    EXPECT_NE(in_words(plan, role_named(plan, "M").after).find("release Q"), std::string::npos);
    EXPECT_NE(in_words(plan, role_named(plan, "E").after).find("release Q"), std::string::npos);
  }
}

// Products of one queue may add to one accumulator in turn, however many there are.
TEST(TensorPerTile, ThreeProductsShareAnAccumulator) {
  const Plan plan = plan_of(kThree);
  const auto proven = prove(plan);
  EXPECT_TRUE(proven.has_value()) << text_of(proven.error()) << to_text(plan);
}

// Contents without a writing step are unknown: a note says so, and a CTA does not go on with them.
TEST(TensorPerTile, WhatNoStepFillsIsSaid) {
  const Plan plan = kernel_plan(kProduct, Tiles::persistent, false);
  EXPECT_EQ(plan.kernel->tiles, Tiles::one_per_cta);
  ASSERT_EQ(plan.notes.size(), 2U) << plan.notes.back();
  EXPECT_NE(plan.notes[1].find("not proven: mm in tensor memory"), std::string::npos);
  EXPECT_TRUE(prove(plan).has_value());
}

TEST(TensorPerTile, NoStepCanBeLeftOut) {
  for (const char* text : {kProduct, kFresh}) {
    const Plan good = kernel_plan(text, Tiles::persistent, text == kProduct);
    ASSERT_EQ(rule_of(good), "");
    for (std::size_t r = 0; r < good.roles.size(); ++r) {
      for (const bool after : {false, true}) {
        const std::size_t size = (after ? good.roles[r].after : good.roles[r].before).size();
        for (std::size_t k = 0; k < size; ++k) {
          Plan plan = good;
          auto& steps = after ? plan.roles[r].after : plan.roles[r].before;
          const std::string step = to_text(plan, steps[k]);
          steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(k));
          // Products have a fence of their own in the loop.
          const bool twice = step == "fence tensor-after" && good.roles[r].name == "M";
          EXPECT_EQ(rule_of(plan).empty(), twice) << good.roles[r].name << ": " << step;
        }
      }
    }
  }
}

// An end without a waiting step would complete a phase twice.
TEST(TensorPerTile, NothingButALoadCompletesAChannel) {
  const Plan good = kernel_plan(kProduct, Tiles::persistent);
  for (std::size_t r = 0; r < good.roles.size(); ++r) {
    for (std::size_t k = 0; k < good.roles[r].after.size(); ++k) {
      Plan plan = good;
      Step& step = plan.roles[r].after[k];
      if (step.channel || step.kind == StepKind::leave) continue;
      for (const Channel& channel : good.channels) {
        if (channel.counts != Channel::Counts::tiles) continue;
        step.channel = ChannelId(static_cast<std::size_t>(&channel - good.channels.data()));
        EXPECT_EQ(rule_of(plan), "well-formed") << to_text(plan, step) << " " << channel.name;
      }
    }
  }
}

// A role of one warp, or a role that does not begin with a warpgroup, does not reach all lanes.
TEST(TensorPerTile, LanesAreReachedByWarpgroupsOnly) {
  Plan plan = kernel_plan(kProduct, Tiles::one_per_cta);
  Role& reader = role_named(plan, "E");
  for (const int warps : {1, 3, 4}) {
    reader.warps = warps;
    plan.warpgroups[reader.warpgroup.index()].warps = warps;
    for (Channel& channel : plan.channels) {
      if (plan[channel.producer].name == "E") channel.full_arrivals = warps;
    }
    EXPECT_EQ(rule_of(plan), warps == 4 ? "" : "memory") << warps;
  }
}

TEST(TensorPerTile, ThePlaceIsSharedWithNothing) {
  Plan plan = kernel_plan(kProduct, Tiles::one_per_cta);
  Buffer other = plan[plan.kernel->per_tile_ops[1].tensor.front().buffer];
  other.name = "other";
  other.initial = 0;
  other.offset += other.size;  // directly after it
  plan.buffers.push_back(other);
  EXPECT_EQ(rule_of(plan), "");
  plan.buffers.back().offset -= 1;
  EXPECT_EQ(rule_of(plan), "memory");
}

// The first product is not done when a thread of its role has gone on.
TEST(TensorPerTile, ThreadsDoNotSpeakForTheUnit) {
  Plan plan = kernel_plan(kProduct, Tiles::one_per_cta);
  for (Step& step : role_named(plan, "M").after) step.arrival = Arrival::threads;
  EXPECT_EQ(rule_of(plan), "read-before-write");
}

}  // namespace
}  // namespace twill::plan::testing
