#include "twill/plan/stores.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plan/plans.h"
#include "twill/plan/json.h"
#include "twill/plan/text.h"

// Protects: if a descriptor covers the whole tile, the roles fill one box and a role of its own
// stores it. The proof knows the channels of that role, and each of their steps is needed.
namespace twill::plan::testing {
namespace {

constexpr const char* kStoring = R"(
loop stores
unit TC
unit TMA
memory SMEM capacity 8
group L warps 1 loads
group A warps 4 registers 6
group B warps 4 registers 6
op ld on TMA for 2 latency 6 issue 1 warps 1 occupies SMEM 2 async streaming
op mmA on TC for 4 latency 6 issue 1 warps 4 registers 4 async
op mmB on TC for 4 latency 6 issue 1 warps 4 registers 4 async
ld -> mmA blocking
ld -> mmB blocking
mmA -> mmA in-place distance 1
mmB -> mmB in-place distance 1
)";

/// Two stores after the loop, of 8 bytes each, and a tile that stays valid through the loop.
Plan plan_of_two(Tiles tiles, Amount room = 64, PerTileOp::When when = PerTileOp::When::after) {
  const auto loop = schedule::parse_loop(kStoring, "test");
  const auto answer = solve::solve(loop->problem, {});
  const auto checked = verify::verify(loop->problem, *answer.schedule);
  Setting setting;
  Buffer tile;
  tile.name = "Q";
  tile.memory = "SMEM";
  tile.size = 8;
  tile.invariant_buffer = true;
  tile.readers = {OpId(1), OpId(2)};
  setting.invariant_buffers = {tile};
  setting.reserved = {{"SMEM", room}};
  setting.kernel = Kernel{};
  setting.kernel->tiles = tiles;
  setting.shares = {{}, {0}, {1}};
  PerTileRequest fill;
  fill.what.what = "copy @ 1:1";
  fill.what.mechanism = Mechanism::tma_load;
  fill.invariant_buffer = 0;
  PerTileRequest store;
  store.what.when = when;
  store.what.what = "store @ 4:1";
  if (when == PerTileOp::When::after) {  // else the plan has no place for it yet
    store.what.mechanism = Mechanism::bulk_store;
    store.memory = "SMEM";
    store.bytes = 8;
  }
  store.uses = {OpId(1), OpId(2)};
  PerTileRequest second = store;
  second.what.what = "store @ 5:1";
  setting.per_tile_ops = {fill, store, second};
  auto plan = draft_plan(*checked, setting);
  if (!plan) ADD_FAILURE() << to_string(plan.error());
  return *std::move(plan);
}

Plan with_stores_of(Tiles tiles, const std::vector<WholeStore>& stores, Amount room = 64) {
  auto plan = with_store_role(plan_of_two(tiles, room), stores);
  if (!plan) ADD_FAILURE() << to_string(plan.error());
  return *std::move(plan);
}

std::vector<WholeStore> boxes_of_kinds(std::size_t second_kind) {
  return {{1, 0, 8, {}, {}}, {2, second_kind, 8, {}, {}}};
}

std::string steps_in(const Plan& plan, const std::vector<Step>& steps) {
  std::string text;
  for (const Step& step : steps) text += to_text(plan, step) + "; ";
  return text;
}

/// The steps of a role after the loop, once its products are done.
std::string behind_drain(Plan& plan, const std::string& role) {
  const std::string drain = "drain wgmma to 0; ";
  std::string text = steps_in(plan, role_named(plan, role).after);
  return text.starts_with(drain) ? text.substr(drain.size()) : text;
}

void expect_sound(const Plan& plan) {
  const auto proven = prove(plan);
  EXPECT_TRUE(proven.has_value()) << text_of(proven.error()) << to_text(plan);
  const auto read = read_plan_json(plan_json(plan), "test");
  ASSERT_TRUE(read.has_value()) << to_string(read.error());
  EXPECT_EQ(*read, plan);
}

TEST(Stores, RolesFillABoxAndOneStoresIt) {
  Plan plan = with_stores_of(Tiles::one_per_cta, boxes_of_kinds(1));
  expect_sound(plan);
  EXPECT_EQ(steps_in(plan, role_named(plan, "STORE").after),
            "wait store1 of A [t]; wait store1 of B [t]; issue store @ 4:1 [t]; "
            "wait store2 of A [t]; wait store2 of B [t]; issue store @ 5:1 [t]; ");
  EXPECT_EQ(steps_in(plan, role_named(plan, "STORE").tail), "drain bulk-store to 0; ");
  EXPECT_EQ(behind_drain(plan, "B"),
            "release Q [t]; stage store @ 4:1 [t]; fence proxy; commit store1 of B [t]; "
            "stage store @ 5:1 [t]; fence proxy; commit store2 of B [t]; ");
  EXPECT_TRUE(role_named(plan, "B").tail.empty());
  EXPECT_EQ(role_named(plan, "STORE").warpgroup, role_named(plan, "L").warpgroup);
  const auto channels = channels_to_sender(plan, 1);
  ASSERT_EQ(channels.size(), 2U);
  EXPECT_EQ(plan[channels[0]].name, "store1 of A");
  EXPECT_NE(to_text(plan).find("A, B for STORE  store1"), std::string::npos) << to_text(plan);
}

// A box behind all tiles is filled and stored once, by channels that no tile uses.
TEST(Stores, BoxesBehindAllTilesAreStoredOnce) {
  const Plan two = plan_of_two(Tiles::program_loop, 64, PerTileOp::When::end);
  auto made = with_store_role(two, boxes_of_kinds(1));
  ASSERT_TRUE(made.has_value()) << to_string(made.error());
  expect_sound(*made);
  Plan plan = *made;
  EXPECT_EQ(steps_in(plan, role_named(plan, "STORE").tail),
            "wait store1 of A [t]; wait store1 of B [t]; issue store @ 4:1 [t]; "
            "wait store2 of A [t]; wait store2 of B [t]; issue store @ 5:1 [t]; "
            "drain bulk-store to 0; ");
  EXPECT_EQ(steps_in(plan, role_named(plan, "B").tail),
            "stage store @ 4:1 [t]; fence proxy; commit store1 of B [t]; "
            "stage store @ 5:1 [t]; fence proxy; commit store2 of B [t]; ");
  EXPECT_EQ(channels_to_sender(plan, 1).size(), 2U);
  std::vector<Step>& tail = role_named(plan, "B").tail;
  tail.erase(tail.begin() + 1);
  expect_rule(plan, "fence");
  plan = *made;
  role_named(plan, "B").after.push_back(role_named(plan, "B").tail[2]);
  expect_rule(plan, "well-formed");
  plan = *made;
  role_named(plan, "STORE").tail.pop_back();
  expect_rule(plan, "groups");

  made = with_store_role(two, boxes_of_kinds(0));  // one box for both, which is filled twice
  ASSERT_TRUE(made.has_value()) << to_string(made.error());
  expect_sound(*made);
  plan = *made;
  std::vector<Step>& again = role_named(plan, "A").tail;
  const auto acquires = [](const Step& step) { return step.kind == StepKind::acquire; };
  EXPECT_EQ(std::count_if(again.begin(), again.end(), acquires), 1);
  std::erase_if(again, acquires);
  expect_rule(plan, "overwrite");
  plan = *made;  // the wait between the two stores is none for the second
  std::vector<Step>& stores = role_named(plan, "STORE").tail;
  ASSERT_EQ(stores.back().kind, StepKind::drain_groups);
  stores.pop_back();
  expect_rule(plan, "groups");
}

// A box is filled again once it was read: by the next store of its kind, and in the next tile.
TEST(Stores, ABoxIsFilledAgainOnceItWasRead) {
  for (const Tiles tiles : {Tiles::one_per_cta, Tiles::program_loop}) {
    const bool walks = tiles != Tiles::one_per_cta;
    Plan plan = with_stores_of(tiles, boxes_of_kinds(0));
    expect_sound(plan);
    EXPECT_EQ(plan.kernel->per_tile_ops[1].buffers, plan.kernel->per_tile_ops[2].buffers);
    const std::string first = walks ? "acquire store2 of A [t]; " : "";
    EXPECT_EQ(behind_drain(plan, "A"),
              "release Q [t]; " + first +
                  "stage store @ 4:1 [t]; fence proxy; commit store1 of A [t]; "
                  "acquire store1 of A [t+1]; stage store @ 5:1 [t]; fence proxy; "
                  "commit store2 of A [t]; ");
    Plan apart = with_stores_of(tiles, boxes_of_kinds(1));
    expect_sound(apart);
    EXPECT_EQ(steps_in(apart, role_named(apart, "A").after).find("acquire store1 of A [t]; ") !=
                  std::string::npos,
              walks);
  }
}

TEST(Stores, NoStepCanBeLeftOut) {
  const Plan good = with_stores_of(Tiles::program_loop, boxes_of_kinds(0));
  for (const char* const name : {"A", "B", "STORE"}) {
    Plan whole = good;
    const std::vector<Step> steps = role_named(whole, name).after;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      Plan plan = good;
      auto& after = role_named(plan, name).after;
      after.erase(after.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_NE(rule_of(plan), "") << name << " without " << to_text(good, steps[i]);
    }
  }
  Plan plan = good;
  role_named(plan, "STORE").tail.clear();
  EXPECT_EQ(rule_of(plan), "groups");
  plan = good;
  plan.kernel->per_tile_ops[1].sender.reset();
  EXPECT_EQ(rule_of(plan), "well-formed");
  plan = good;
  plan.buffers[plan.kernel->per_tile_ops[1].buffers[0].index()].size = 4;
  EXPECT_EQ(rule_of(plan), "memory");
}

// A box may lie in a ring in which the plan stages the store. Or it may lie in the place of a tile
// that was valid through the loop. All reads there have ended by then.
TEST(Stores, ABoxLiesWhereAllIsDone) {
  const Plan base = plan_of_two(Tiles::one_per_cta);
  const auto tile = std::find_if(base.buffers.begin(), base.buffers.end(),
                                 [](const Buffer& buffer) { return buffer.name == "Q"; });
  ASSERT_NE(tile, base.buffers.end());
  const BufferId place(static_cast<std::size_t>(tile - base.buffers.begin()));
  const std::vector<WholeStore> in_place = {{1, 0, 8, {}, place}, {2, 0, 8, {}, place}};
  Plan plan = with_stores_of(Tiles::one_per_cta, in_place);
  expect_sound(plan);
  const BufferId box = plan.kernel->per_tile_ops[1].buffers.front();
  EXPECT_EQ(plan[box].offset, tile->offset);
  const std::string after = steps_in(plan, role_named(plan, "A").after);
  EXPECT_NE(after.find("release Q [t]; acquire Q [t+1]; stage store @ 4:1"), std::string::npos)
      << after;
  std::erase_if(role_named(plan, "A").after, [&](const Step& step) {
    return step.kind == StepKind::acquire && plan[*step.channel].name == "Q";
  });
  EXPECT_EQ(rule_of(plan), "overwrite");
  plan = with_stores_of(Tiles::one_per_cta, in_place);
  plan.kernel->tiles = Tiles::program_loop;  // the next tile would arrive during this tile's store
  EXPECT_NE(rule_of(plan), "");
}

TEST(Stores, APlanWithoutThemStaysAsItIs) {
  const Plan plan = plan_of_two(Tiles::one_per_cta);
  const auto same = with_store_role(plan, {});
  ASSERT_TRUE(same.has_value());
  EXPECT_EQ(*same, plan);
}

}  // namespace
}  // namespace twill::plan::testing
