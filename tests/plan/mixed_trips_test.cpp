#include "twill/plan/proof/mixed_trips.h"

#include <algorithm>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plan/plans.h"
#include "plan/random_loop.h"
#include "twill/plan/proof/data.h"
#include "twill/plan/text.h"

// Protects the proof's statement about tiles of differing trip counts: if every mixture is called
// decided, every mixture that is laid out keeps all rules. The statement holds for the plans of
// kernels.
namespace twill::plan::testing {
namespace {

constexpr unsigned kSeeds = 400;

/// All sequences of so many tiles with trips below `letters`, then some long ones at random.
std::vector<proof::TileTrips> mixtures(std::mt19937& random) {
  constexpr std::int64_t kLetters = 4;
  std::vector<proof::TileTrips> all;
  for (const std::size_t length : {3U, 4U}) {
    proof::TileTrips tiles(length, 0);
    for (std::size_t at = 0; at < length;) {
      all.push_back(tiles);
      for (at = 0; at < length && ++tiles[at] == kLetters; ++at) tiles[at] = 0;
    }
  }
  for (int i = 0; i < 40; ++i) {
    proof::TileTrips tiles(3 + random() % 8);
    for (std::int64_t& trips : tiles) trips = static_cast<std::int64_t>(random() % 7);
    all.push_back(std::move(tiles));
  }
  return all;
}

/// The first rule that a mixture breaks, with the message; "" if all rules hold.
std::string broken_by_mixtures(const Plan& plan, std::mt19937& random) {
  const proof::Tables tables(plan);
  proof::Run run(tables);
  proof::DataMemory memory;
  for (const proof::TileTrips& tiles : mixtures(random)) {
    proof::Findings findings;
    proof::check_run(run, memory, tiles, findings);
    if (!findings.empty()) return text_of(std::move(findings).take());
  }
  return "";
}

Setting over_tiles(bool every_wait) {
  Setting setting;
  setting.every_wait = every_wait;
  setting.kernel = Kernel{};
  setting.kernel->tiles = Tiles::persistent;
  setting.kernel->same_trips = false;
  return setting;
}

struct MixtureTally {
  int decided = 0, undecided = 0, broken = 0;
};

/// Proves the plan, and lays out mixtures of tiles.
bool tally(const Plan& plan, std::mt19937& random, MixtureTally& all) {
  const auto proven = prove(plan);
  if (!proven || proven->plan().kernel->tiles == Tiles::one_per_cta) return false;
  const std::string broken = broken_by_mixtures(plan, random);
  ++(proven->size().some_mixtures ? all.undecided : all.decided);
  if (proven->size().some_mixtures) {
    all.broken += broken.empty() ? 0 : 1;
  } else {
    EXPECT_EQ(broken, "") << to_text(plan);
  }
  return true;
}

/// Removes all waits, or acquires, of a channel by a role: some are implied by others.
void tally_without_waits(const Plan& plan, std::mt19937& random, MixtureTally& all) {
  for (std::size_t r = 0; r < plan.roles.size(); ++r) {
    for (std::size_t c = 0; c < plan.channels.size(); ++c) {
      for (const StepKind kind : {StepKind::wait, StepKind::acquire}) {
        Plan changed = plan;
        std::size_t dropped = 0;
        each_sequence(changed.roles[r], [&](std::vector<Step>& steps) {
          dropped += std::erase_if(steps, [&](const Step& step) {
            return step.kind == kind && step.channel == ChannelId(c);
          });
        });
        if (dropped > 0) tally(changed, random, all);
      }
    }
  }
}

/// Removes the fences of a kind that a role takes in the loop.
void tally_without_fences(const Plan& plan, std::mt19937& random, MixtureTally& all) {
  for (std::size_t r = 0; r < plan.roles.size(); ++r) {
    for (const Fence kind : {Fence::tensor_before, Fence::tensor_after}) {
      Plan changed = plan;
      const int dropped = drop(changed.roles[r], [&](const Step& step) {
        return step.kind == StepKind::fence && step.fence == kind;
      });
      if (dropped > 0) tally(changed, random, all);
    }
  }
}

/// Attention in tensor memory: scores that threads read, and an operand that they write. Threads
/// fill the accumulator before the loop, rescale it in the loop, and read it after the loop.
/// Scores have room for `scores` copies.
Plan tensor_plan(int scores, bool every_wait) {
  const std::string text = R"(
loop tensor
unit TC
unit TMA
memory SMEM capacity 4
memory TMEM capacity )" + std::to_string(2 + scores) +
                           R"(
group L warps 1 loads
group M warps 1
group C warps 4 registers 20
op ld on TMA for 2 latency 4 issue 1 warps 1 occupies SMEM 1 async streaming
op s on TC for 3 latency 4 issue 1 warps 1 occupies TMEM 1 async
op get latency 2 issue 2 warps 4 registers 2
op p latency 1 issue 1 warps 4 occupies TMEM 1
op fix latency 1 issue 1 warps 4
op o on TC for 3 latency 4 issue 1 warps 1 occupies TMEM 1 async
ld -> s blocking
s -> get blocking read-hold 2
get -> p
p -> o blocking
o -> fix distance 1 blocking
fix -> o blocking in-place
o -> o distance 1 delay 0 in-place
)";
  const auto loop = schedule::parse_loop(text, "test");
  const auto answer = solve::solve(loop->problem, {});
  const auto checked = verify::verify(loop->problem, *answer.schedule);
  Setting setting = over_tiles(every_wait);
  setting.mechanisms = {std::nullopt, Mechanism::tcgen05, std::nullopt,
                        std::nullopt, std::nullopt,       Mechanism::tcgen05};
  PerTileRequest fill;
  fill.what.what = "zero @ 1:1";
  fill.tensor = {OpId(5)};
  PerTileRequest read;
  read.what.when = PerTileOp::When::after;
  read.what.what = "read @ 3:1";
  read.uses = {OpId(5)};
  read.tensor = {OpId(5)};
  setting.per_tile_ops = {fill, read};
  auto plan = draft_plan(*checked, setting);
  if (!plan) ADD_FAILURE() << to_string(plan.error());
  return *std::move(plan);
}

// Tests accumulators, operands and scores in tensor memory. The proof decides such plans, and
// mixtures of tiles obey all rules. A plan may lack a wait or fence and still be proven for
// neighbouring tiles. Then it must be undecided for mixtures, or obey the rules as well.
TEST(MixedTrips, WithTensorMemoryAreDecided) {
  std::mt19937 random(1);
  MixtureTally changed;
  for (const int scores : {1, 2, 3}) {
    for (const bool every_wait : {false, true}) {
      const Plan plan = tensor_plan(scores, every_wait);
      const auto proven = prove(plan);
      ASSERT_TRUE(proven.has_value()) << text_of(proven.error()) << to_text(plan);
      EXPECT_EQ(proven->plan().kernel->tiles, Tiles::persistent);
      EXPECT_FALSE(proven->size().some_mixtures) << to_text(plan);
      EXPECT_EQ(broken_by_mixtures(plan, random), "");
      tally_without_waits(plan, random, changed);
      tally_without_fences(plan, random, changed);
    }
  }
  std::cout << "changed: decided " << changed.decided << ", undecided " << changed.undecided
            << ", broken " << changed.broken << "\n";
}

/// Scores that one warp makes and threads read; no step around the loop keeps the warp from
/// starting the next tile.
Plan scores_plan() {
  const auto loop = schedule::parse_loop(R"(
loop scores
unit TC
unit TMA
memory SMEM capacity 4
memory TMEM capacity 1
group L warps 1 loads
group M warps 1
group C warps 4 registers 20
op ld on TMA for 2 latency 4 issue 1 warps 1 occupies SMEM 1 async streaming
op s on TC for 3 latency 4 issue 1 warps 1 occupies TMEM 1 async
op get latency 2 issue 2 warps 4 registers 2
ld -> s blocking
s -> get blocking read-hold 2
)",
                                         "test");
  const auto answer = solve::solve(loop->problem, {});
  const auto checked = verify::verify(loop->problem, *answer.schedule);
  Setting setting = over_tiles(false);
  setting.mechanisms = {std::nullopt, Mechanism::tcgen05, std::nullopt};
  auto plan = draft_plan(*checked, setting);
  if (!plan) ADD_FAILURE() << to_string(plan.error());
  return *std::move(plan);
}

/// Whether a tile of one trip, which must keep all rules by itself, leads over to any other.
bool leads_over(const Plan& plan) {
  const proof::Tables tables(plan);
  proof::Run run(tables);
  proof::DataMemory memory;
  proof::Findings findings;
  proof::check_run(run, memory, {1}, findings);
  EXPECT_TRUE(findings.empty());
  proof::MixedTrips mixtures(plan);
  mixtures.look_at(run);
  return mixtures.decided();
}

// Tiles of one trip are right without the way back and without its fences, since no tile comes
// before. They do not lead over to the next without the wait for the slot or either fence, the
// reader's or the writer's. Nor with the writer's fence before the wait.
TEST(MixedTrips, NeedTheAlternativeBackAndBothOfItsFences) {
  const Plan good = scores_plan();
  EXPECT_TRUE(leads_over(good)) << to_text(good);
  EXPECT_FALSE(prove(good)->size().some_mixtures);
  const auto is_fence = [](Fence kind) {
    return [kind](const Step& step) { return step.kind == StepKind::fence && step.fence == kind; };
  };
  const std::vector<Steps> parts = {[&](const Step& step) {
                                      return step.kind == StepKind::acquire &&
                                             good[*step.channel].name == "s";
                                    },
                                    is_fence(Fence::tensor_before)};
  for (const Steps& part : parts) {
    Plan plan = good;
    ASSERT_GT(drop(plan, part), 0) << to_text(good);
    EXPECT_FALSE(leads_over(plan)) << to_text(plan);
  }
  for (const bool moved : {false, true}) {
    Plan plan = good;
    for (Role& role : plan.roles) {
      if (role.name != "M") continue;
      each_sequence(role, [&](std::vector<Step>& steps) {
        if (moved) {
          std::stable_partition(steps.begin(), steps.end(), is_fence(Fence::tensor_after));
        } else {
          std::erase_if(steps, is_fence(Fence::tensor_after));
        }
      });
    }
    EXPECT_FALSE(leads_over(plan)) << to_text(plan);
  }
}

TEST(MixedTrips, ThatAreCalledDecidedKeepAllRules) {
  MixtureTally drafted, changed;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    std::mt19937 random(seed);
    const problem::Problem loop = random_loop(random);
    const schedule::Answer answer = solve::solve(loop, {});
    if (!answer.schedule) continue;
    const auto checked = verify::verify(loop, *answer.schedule);
    ASSERT_TRUE(checked.has_value());
    for (const bool every_wait : {false, true}) {
      const auto draft = draft_plan(*checked, over_tiles(every_wait));
      if (!draft || !tally(*draft, random, drafted)) continue;
      if (!every_wait) continue;
      tally_without_waits(*draft, random, changed);
      tally_without_fences(*draft, random, changed);
    }
  }
  std::cout << "drafted: decided " << drafted.decided << ", undecided " << drafted.undecided
            << ", broken " << drafted.broken << "\nchanged: decided " << changed.decided
            << ", undecided " << changed.undecided << ", broken " << changed.broken << "\n";
  EXPECT_GT(drafted.decided, 50);  // else the test would cover too little
}

}  // namespace
}  // namespace twill::plan::testing
