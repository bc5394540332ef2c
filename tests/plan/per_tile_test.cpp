#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plan/plans.h"
#include "twill/plan/json.h"
#include "twill/plan/text.h"

// Protects the kernel level: ops outside the loop are planned and proven, tile after tile. Omitting
// any part of them is found.
namespace twill::plan::testing {
namespace {

/// kRegisters with a loop-invariant buffer that `mm` reads, a load into registers, and a store of a
/// sum of rows of `f`, which reads `mm`.
Plan kernel_plan(Tiles tiles, bool same_trips = true, Mechanism fills = Mechanism::tma_load,
                 const std::vector<OpId>& summing = {OpId(1), OpId(2)}) {
  const auto loop = schedule::parse_loop(kRegisters, "test");
  const auto answer = solve::solve(loop->problem, {});
  const auto checked = verify::verify(loop->problem, *answer.schedule);
  Setting setting;
  Buffer invariant_buffer;
  invariant_buffer.name = "Q";
  invariant_buffer.memory = "SMEM";
  invariant_buffer.size = 4;
  invariant_buffer.invariant_buffer = true;
  invariant_buffer.readers = {OpId(1)};
  setting.invariant_buffers = {invariant_buffer};
  setting.reserved = {{"SMEM", 16}};
  setting.kernel = Kernel{};
  setting.kernel->tiles = tiles;
  setting.kernel->same_trips = same_trips;
  PerTileRequest fill;
  fill.what.what = "copy @ 1:1";
  fill.what.mechanism = fills;
  fill.invariant_buffer = 0;
  PerTileRequest bias;
  bias.what.what = "load @ 2:1";
  bias.what.mechanism = Mechanism::scoreboard;
  PerTileRequest finish;
  finish.what.when = PerTileOp::When::after;
  finish.what.what = "truncate @ 3:1";
  finish.uses = {OpId(2)};
  PerTileRequest store = finish;
  store.what.what = "store @ 4:1";
  store.what.mechanism = Mechanism::bulk_store;
  store.memory = "SMEM";
  store.bytes = 8;
  setting.per_tile_ops = {fill, bias, finish, store};
  setting.rematerialized = {{"offset @ 5:1", 5, 1, {OpId(0), OpId(2)}, {}},
                            {"mask @ 6:1", 6, 1, {OpId(1), OpId(2)}, {}}};
  setting.row_sums = {{{"reduce @ 5:1", 5, 1}, {"add @ 6:1", 6, 1}, summing, {OpId(2)}}};
  auto plan = draft_plan(*checked, setting);
  if (!plan) ADD_FAILURE() << to_string(plan.error());
  return *std::move(plan);
}

/// A bulk store after the loop, of 8 bytes for each role.
PerTileRequest bulk_store_behind() {
  PerTileRequest store;
  store.what.when = PerTileOp::When::after;
  store.what.what = "store @ 4:1";
  store.what.mechanism = Mechanism::bulk_store;
  store.memory = "SMEM";
  store.bytes = 8;
  return store;
}

std::string kinds(const Plan& plan, const std::vector<Step>& steps) {
  std::string text;
  for (const Step& step : steps) text += to_text(plan, step) + "; ";
  return text;
}

TEST(PerTile, IsDoneInStepsByThoseWhoHoldTheRows) {
  Plan plan = kernel_plan(Tiles::persistent);
  EXPECT_EQ(kinds(plan, role_named(plan, "L").before),
            "acquire Q [t]; expect Q [t]; issue copy @ 1:1 [t]; ");
  EXPECT_EQ(kinds(plan, role_named(plan, "C").before), "wait Q [t]; compute load @ 2:1 [t]; ");
  EXPECT_EQ(kinds(plan, role_named(plan, "C").after),
            "release Q [t]; compute truncate @ 3:1 [t]; drain bulk-store to 0 reading; rendezvous; "
            "stage store @ 4:1 [t]; fence proxy; rendezvous; issue store @ 4:1 [t]; ");
  EXPECT_EQ(kinds(plan, role_named(plan, "C").tail), "drain bulk-store to 0; ");
}

// Values without an op are computed by exactly the roles that need them.
TEST(Rematerialized, IsOwnedByTheRolesThatNeedIt) {
  const Plan good = kernel_plan(Tiles::persistent);
  const std::vector<Rematerialized>& values = good.kernel->rematerialized;
  ASSERT_EQ(values.size(), 2U);
  ASSERT_EQ(values[0].roles.size(), 2U);
  ASSERT_EQ(values[1].roles.size(), 1U);
  EXPECT_EQ(good[values[0].roles[0]].name, "L");
  EXPECT_EQ(good[values[0].roles[1]].name, "C");
  EXPECT_EQ(good[values[1].roles[0]].name, "C");
  EXPECT_NE(to_text(good).find("offset @ 5:1  L, C"), std::string::npos) << to_text(good);
  EXPECT_TRUE(prove(good).has_value());
  Plan plan = good;
  plan.kernel->rematerialized[0].roles.pop_back();  // C needs it, and no role gives it to C
  expect_rule(plan, "ownership");
  plan = good;
  plan.kernel->rematerialized[1].roles = values[0].roles;  // L has no use for it
  expect_rule(plan, "ownership");
  plan = good;
  plan.kernel->rematerialized[1].readers = {OpId(7)};
  expect_rule(plan, "well-formed");
  plan.kernel->rematerialized[1].readers.clear();
  expect_rule(plan, "well-formed");
}

TEST(PerTile, IsProvenHoweverTilesCome) {
  for (const Tiles tiles : {Tiles::one_per_cta, Tiles::program_loop, Tiles::persistent}) {
    for (const bool same : {true, false}) {
      const Plan plan = kernel_plan(tiles, same);
      const auto proven = prove(plan);
      EXPECT_TRUE(proven.has_value()) << text_of(proven.error());
      const auto read = read_plan_json(plan_json(plan), "test");
      ASSERT_TRUE(read.has_value()) << to_string(read.error());
      EXPECT_EQ(*read, plan);
    }
  }
}

/// A kernel whose own loop over tiles carries a tile, which is stored behind that loop.
Plan plan_with_end(Tiles tiles) {
  const auto loop = schedule::parse_loop(kRegisters, "test");
  const auto answer = solve::solve(loop->problem, {});
  const auto checked = verify::verify(loop->problem, *answer.schedule);
  Setting setting;
  setting.kernel = Kernel{};
  setting.kernel->tiles = tiles;
  PerTileRequest add;
  add.what.when = PerTileOp::When::after;
  add.what.what = "add @ 3:1";
  add.uses = {OpId(2)};
  PerTileRequest store = add;
  store.what.when = PerTileOp::When::end;
  store.what.what = "store @ 4:1";
  store.what.writes = true;
  setting.per_tile_ops = {add, store};
  auto plan = draft_plan(*checked, setting);
  if (!plan) ADD_FAILURE() << to_string(plan.error());
  return *std::move(plan);
}

// An op behind the program's loop over tiles is done once, and only there.
TEST(PerTile, WhatIsBehindAllTilesIsDoneOnceInTheTail) {
  const Plan good = plan_with_end(Tiles::program_loop);
  Plan plan = good;
  EXPECT_EQ(kinds(plan, role_named(plan, "C").after), "compute add @ 3:1 [t]; ");
  EXPECT_EQ(kinds(plan, role_named(plan, "C").tail), "compute store @ 4:1 [t]; ");
  EXPECT_TRUE(role_named(plan, "L").tail.empty());
  EXPECT_NE(to_text(good).find("end    store @ 4:1"), std::string::npos) << to_text(good);
  const auto proven = prove(good);
  EXPECT_TRUE(proven.has_value()) << text_of(proven.error());
  const auto read = read_plan_json(plan_json(good), "test");
  ASSERT_TRUE(read.has_value()) << to_string(read.error());
  EXPECT_EQ(*read, good);

  role_named(plan, "C").tail.clear();  // never
  expect_rule(plan, "ownership");
  plan = good;
  role_named(plan, "C").tail.push_back(role_named(plan, "C").tail.front());  // twice
  expect_rule(plan, "ownership");
  plan = good;
  role_named(plan, "C").after.push_back(role_named(plan, "C").tail.front());  // in each tile
  role_named(plan, "C").tail.clear();
  expect_rule(plan, "well-formed");
  for (const Tiles tiles : {Tiles::one_per_cta, Tiles::persistent}) {  // there is no such loop
    plan = good;
    plan.kernel->tiles = tiles;
    expect_rule(plan, "well-formed");
  }
  plan = good;
  plan.kernel->per_tile_ops[1].alone = true;
  expect_rule(plan, "well-formed");
}

TEST(PerTile, CopiesByThreadsAreFencedByTheirReaders) {
  for (const Tiles tiles : {Tiles::one_per_cta, Tiles::program_loop, Tiles::persistent}) {
    Plan plan = kernel_plan(tiles, false, Mechanism::cp_async);
    EXPECT_EQ(kinds(plan, role_named(plan, "L").before), "acquire Q [t]; issue copy @ 1:1 [t]; ");
    EXPECT_EQ(kinds(plan, role_named(plan, "C").before),
              "wait Q [t]; fence proxy; compute load @ 2:1 [t]; ");
    const auto proven = prove(plan);
    EXPECT_TRUE(proven.has_value()) << text_of(proven.error());
    const auto read = read_plan_json(plan_json(plan), "test");
    ASSERT_TRUE(read.has_value()) << to_string(read.error());
    EXPECT_EQ(*read, plan);
    std::vector<Step>& steps = role_named(plan, "C").before;
    std::erase_if(steps, [](const Step& step) { return step.fence == Fence::proxy; });
    const auto unfenced = prove(plan);
    ASSERT_FALSE(unfenced.has_value());
    EXPECT_EQ(unfenced.error().front().rule, "fence");
  }
}

// A row sum is kept in parts where one role has all of it in its registers. In any other case, a
// plan with parts is refused.
TEST(PerTile, KeepsRowSumsInParts) {
  const Plan plan = kernel_plan(Tiles::persistent);
  ASSERT_EQ(plan.kernel->partial_sums.size(), 1U);
  EXPECT_EQ(plan.kernel->partial_sums[0],
            (PartialSum{OpId(2), {OpId(1), OpId(2)}, {"reduce @ 5:1", 5, 1}, {"add @ 6:1", 6, 1}}));
  EXPECT_NE(to_text(plan).find("row sums in parts until the loop is over: C's f (reduce @ 5:1)\n"),
            std::string::npos);
  const Plan shared = kernel_plan(Tiles::persistent, true, Mechanism::tma_load,
                                  {OpId(0), OpId(1), OpId(2)});  // ld is of another role
  EXPECT_TRUE(shared.kernel->partial_sums.empty());

  Plan wrong = plan;
  wrong.kernel->partial_sums[0].ops = {OpId(0), OpId(1), OpId(2)};
  EXPECT_EQ(rule_of(wrong), "ownership");
  wrong.kernel->partial_sums[0].ops = {OpId(1)};  // without the sum itself
  EXPECT_EQ(rule_of(wrong), "well-formed");
  wrong = plan;
  wrong.values[2].staged = wrong.values[2].home;
  EXPECT_NE(rule_of(wrong), "");
}

/// kRegisters with an effect on scalars between a load and a store after the loop.
Plan plan_with_lock(Tiles tiles, bool brings) {
  const auto loop = schedule::parse_loop(kRegisters, "test");
  const auto answer = solve::solve(loop->problem, {});
  const auto checked = verify::verify(loop->problem, *answer.schedule);
  Setting setting;
  setting.kernel = Kernel{};
  setting.kernel->tiles = tiles;
  PerTileRequest store;
  store.what.when = PerTileOp::When::after;
  store.what.what = "store @ 1:1";
  store.what.writes = true;
  store.uses = {OpId(2)};
  PerTileRequest lock;
  lock.what.when = PerTileOp::When::after;
  lock.what.what = "lock @ 2:1";
  lock.what.alone = true;
  lock.brings = brings;
  PerTileRequest again = store;
  again.what.what = "store @ 3:1";
  setting.per_tile_ops = {store, lock, again};
  auto plan = draft_plan(*checked, setting);
  if (!plan) ADD_FAILURE() << to_string(plan.error());
  return *std::move(plan);
}

// A lock or a counter is done once, by one role. Accesses before it in the program are complete by
// then, in other roles too, and later accesses begin after it. The role that loads reads the next
// tile's number.
TEST(PerTile, EffectsOfScalarsKeepTheirPlace) {
  for (const Tiles tiles : {Tiles::one_per_cta, Tiles::program_loop}) {
    Plan own = plan_with_lock(tiles, false);
    ASSERT_EQ(own.kernel->per_tile_ops[1].roles.size(), 1U);
    EXPECT_EQ(own[own.kernel->per_tile_ops[1].roles[0]].name, "C");
    Plan plan = plan_with_lock(tiles, true);
    EXPECT_EQ(kinds(plan, role_named(plan, "L").after),
              "wait turn1.C [t]; release turn1.C [t]; acquire turn1.done [t]; "
              "compute lock @ 2:1 [t]; commit turn1.done [t]; ");
    EXPECT_EQ(kinds(plan, role_named(plan, "C").after),
              "compute store @ 1:1 [t]; acquire turn1.C [t]; commit turn1.C [t]; "
              "wait turn1.done [t]; release turn1.done [t]; compute store @ 3:1 [t]; ");
    for (const Plan& it : {own, plan}) {
      const auto proven = prove(it);
      EXPECT_TRUE(proven.has_value()) << text_of(proven.error());
      const auto read = read_plan_json(plan_json(it), "test");
      ASSERT_TRUE(read.has_value()) << to_string(read.error());
      EXPECT_EQ(*read, it);
    }
    for (const char* const role : {"L", "C"}) {
      for (std::size_t i = 0; i < role_named(plan, role).after.size(); ++i) {
        Plan wrong = plan;
        std::vector<Step>& steps = role_named(wrong, role).after;
        const bool releases = steps[i].kind == StepKind::release;
        // The other channel orders it, too.
        const bool acquires = steps[i].kind == StepKind::acquire;
        const std::string words = to_text(plan, steps[i]);
        steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(i));
        if (acquires || (releases && tiles == Tiles::one_per_cta)) continue;
        EXPECT_NE(rule_of(wrong), "") << "without " << words << " of " << role;
      }
    }
    Plan wrong = plan;
    wrong.kernel->per_tile_ops[1].roles.clear();
    EXPECT_EQ(rule_of(wrong), "well-formed");
  }
}

// Each step of the tile is needed.
TEST(PerTile, NoStepCanBeLeftOut) {
  struct Case {
    const char* role;
    const char* step;  ///< as printed
    std::vector<std::string> rules;
  };
  const std::vector<Case> cases = {
      {"L", "acquire Q [t]", {"overwrite", "overrun"}},
      {"L", "expect Q [t]", {"arrivals", "deadlock"}},
      {"L", "issue copy @ 1:1 [t]", {"arrivals", "ownership"}},
      {"C", "wait Q [t]", {"read-before-write", "phase"}},
      {"C", "compute load @ 2:1 [t]", {"ownership"}},
      {"C", "release Q [t]", {"deadlock"}},
      {"C", "compute truncate @ 3:1 [t]", {"ownership"}},
      {"C", "drain bulk-store to 0 reading", {"overwrite"}},
      {"C", "stage store @ 4:1 [t]", {"ownership"}},
      {"C", "fence proxy", {"fence"}},
      {"C", "issue store @ 4:1 [t]", {"ownership"}},
  };
  for (const Case& wanted : cases) {
    Plan plan = kernel_plan(Tiles::persistent);
    Role& role = role_named(plan, wanted.role);
    std::size_t dropped = 0;
    for (std::vector<Step>* steps : {&role.before, &role.after}) {
      dropped += std::erase_if(
          *steps, [&](const Step& step) { return to_text(plan, step) == wanted.step; });
    }
    EXPECT_EQ(dropped, 1U) << wanted.step;
    const std::string rule = rule_of(plan);
    EXPECT_TRUE(std::find(wanted.rules.begin(), wanted.rules.end(), rule) != wanted.rules.end())
        << "without " << wanted.step << ": '" << rule << "'";
  }
}

TEST(PerTile, SomebodyDoesIt) {
  Plan plan = kernel_plan(Tiles::one_per_cta);
  auto& steps = role_named(plan, "C").before;
  std::erase_if(steps, [](const Step& step) { return step.per_tile_op == 1U; });
  EXPECT_EQ(rule_of(plan), "ownership");
  plan.kernel->per_tile_ops[1].roles.clear();  // and it says so
  EXPECT_EQ(rule_of(plan), "ownership");
}

// The warps meet twice around the staging. The first meeting makes the wait for the last store
// valid for all warps; the second ensures that all rows are staged.
TEST(PerTile, BothMeetingsOfAStoreAreNeeded) {
  const Plan good = kernel_plan(Tiles::persistent);
  std::vector<std::string> rules;
  const std::size_t steps = role_named(const_cast<Plan&>(good), "C").after.size();
  for (std::size_t k = 0; k < steps; ++k) {
    Plan plan = good;
    auto& after = role_named(plan, "C").after;
    if (after[k].kind != StepKind::rendezvous) continue;
    after.erase(after.begin() + static_cast<std::ptrdiff_t>(k));
    rules.push_back(rule_of(plan));
  }
  EXPECT_EQ(rules, (std::vector<std::string>{"overwrite", "read-before-write"}));
}

// Moving any step of a tile within its own list is harmless, or is found. The proof never crashes,
// and an accepted list keeps each release after the last read.
TEST(PerTile, NeighboursThatAreSwappedAreFoundOrHarmless) {
  const Plan good = kernel_plan(Tiles::persistent, false);
  int found = 0;
  for (std::size_t r = 0; r < good.roles.size(); ++r) {
    for (const bool after : {false, true}) {
      const std::size_t size = after ? good.roles[r].after.size() : good.roles[r].before.size();
      for (std::size_t k = 0; k + 1 < size; ++k) {
        Plan plan = good;
        auto& steps = after ? plan.roles[r].after : plan.roles[r].before;
        std::swap(steps[k], steps[k + 1]);
        found += rule_of(plan).empty() ? 0 : 1;
      }
    }
  }
  // Harmless: expect and issue, wait and load, release and truncate, truncate and drain.
  EXPECT_EQ(found, 6);
}

TEST(PerTile, InvariantBuffersShareTheirPlaceWithNothing) {
  const Plan good = kernel_plan(Tiles::persistent);
  for (std::size_t b = 0; b < good.buffers.size(); ++b) {
    if (!good.buffers[b].invariant_buffer) continue;
    for (const Amount offset : {Amount{0}, Amount{1000}}) {
      Plan plan = good;
      plan.buffers[b].offset = offset;
      EXPECT_EQ(rule_of(plan), "memory") << good.buffers[b].name << " at " << offset;
    }
  }
}

/// Two groups multiply tiles of one load, and each stages its rows of the result. The memory has
/// `capacity` for the loop, and eight units more for staging.
Plan two_stores(int capacity) {
  const std::string two_groups = "loop two\nmemory SMEM capacity " + std::to_string(capacity) + R"(
unit TC
unit TMA
group L warps 1 loads
group C warps 2 registers 6
group D warps 2 registers 6
op ld on TMA for 2 latency 20 issue 1 warps 1 occupies SMEM 2 async streaming
op mmA on TC for 4 latency 6 issue 1 warps 2 registers 4 async
op mmB on TC for 4 latency 6 issue 1 warps 2 registers 4 async
ld -> mmA blocking
ld -> mmB blocking
mmA -> mmA in-place distance 1
mmB -> mmB in-place distance 1
)";
  const auto loop = schedule::parse_loop(two_groups, "test");
  const auto answer = solve::solve(loop->problem, {});
  const auto checked = verify::verify(loop->problem, *answer.schedule);
  Setting setting;
  setting.reserved = {{"SMEM", 8}};
  setting.kernel = Kernel{};
  setting.shares = {{}, {0}, {1}};
  PerTileRequest store = bulk_store_behind();
  store.uses = {OpId(1), OpId(2)};
  setting.per_tile_ops = {store};
  auto plan = draft_plan(*checked, setting);
  if (!plan) ADD_FAILURE() << to_string(plan.error());
  return *std::move(plan);
}

// Where memory is short, the staging of a CTA's only tile lies in a ring. Each role waits until the
// other is done with the ring, and each part of that is needed.
TEST(PerTile, StagingLiesInARingWhereMemoryIsShort) {
  const auto copies = [](const Plan& plan) { return plan[*plan.values[0].home].depth; };
  const Plan apart = two_stores(16);
  EXPECT_EQ(copies(apart), 8);
  EXPECT_EQ(apart.channels.size(), 1U);
  const Plan good = two_stores(4);
  EXPECT_EQ(copies(good), 6);  // all of the memory; beside the staging it would be two
  ASSERT_EQ(good.channels.size(), 3U);
  Plan plan = good;
  const std::string after = kinds(plan, role_named(plan, "C").after);
  EXPECT_NE(
      after.find("commit ld left by C [t]; wait ld left by D [t]; drain bulk-store to 0 reading; "
                 "rendezvous; stage store @ 4:1 [t]; "),
      std::string::npos)
      << after;
  const auto proven = prove(good);
  EXPECT_TRUE(proven.has_value()) << text_of(proven.error());
  const auto read = read_plan_json(plan_json(good), "test");
  ASSERT_TRUE(read.has_value()) << to_string(read.error());
  EXPECT_EQ(*read, good);
  for (const StepKind kind : {StepKind::wait, StepKind::commit}) {
    plan = good;
    std::erase_if(role_named(plan, "D").after, [&](const Step& step) { return step.kind == kind; });
    EXPECT_EQ(rule_of(plan), kind == StepKind::wait ? "overwrite" : "deadlock") << name_of(kind);
  }
  plan = good;  // the next tile's copies would arrive during this tile's store
  plan.kernel->tiles = Tiles::persistent;
  EXPECT_EQ(rule_of(plan), "memory");
  plan = good;
  for (Role& role : plan.roles) {  // products still read the ring
    std::erase_if(role.sections.drain,
                  [](const Step& step) { return step.kind == StepKind::drain_groups; });
  }
  EXPECT_FALSE(rule_of(plan).empty());
}

// An invariant buffer must be released after its last reader, wherever that reader is.
TEST(PerTile, AnInvariantBufferIsHeldWhileSomethingReadsIt) {
  Plan plan = kernel_plan(Tiles::persistent);
  plan.kernel->per_tile_ops[2].reads = {plan.kernel->per_tile_ops[0].buffers[0]};
  EXPECT_EQ(rule_of(plan), "overwrite");  // released before the truncation that reads it now
}

TEST(PerTile, StepsOfTilesAndOfIterationsAreNotMixed) {
  Plan plan = kernel_plan(Tiles::persistent);
  for (Channel& channel : plan.channels) channel.counts = Channel::Counts::iterations;
  EXPECT_EQ(rule_of(plan), "well-formed");
  plan = kernel_plan(Tiles::persistent);
  role_named(plan, "C").after.back().per_tile_op = 99;
  EXPECT_EQ(rule_of(plan), "well-formed");
  plan = kernel_plan(Tiles::persistent);
  std::swap(role_named(plan, "C").before, role_named(plan, "C").after);
  EXPECT_EQ(rule_of(plan), "well-formed");
}

// Without room for staging, the threads store, and a note says so.
TEST(PerTile, WithoutRoomThreadsStore) {
  const auto loop = schedule::parse_loop(kRegisters, "test");
  const auto answer = solve::solve(loop->problem, {});
  Setting setting;
  setting.kernel = Kernel{};
  setting.per_tile_ops = {bulk_store_behind()};
  const auto plan = draft_plan(*verify::verify(loop->problem, *answer.schedule), setting);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->kernel->per_tile_ops[0].mechanism, Mechanism::threads);
  EXPECT_EQ(plan->notes.size(), 1U);
  EXPECT_TRUE(prove(*plan).has_value());
}

}  // namespace
}  // namespace twill::plan::testing
