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

// Protects what the proof says of tiles of differing trip counts: where it calls every mixture
// decided, every mixture that is laid out keeps all rules, and it does so for the plans of kernels.
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

/// The first rule that a mixture breaks, with what it says; "" if none does.
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

struct Tally {
  int decided = 0, undecided = 0, broken = 0;
};

/// Proves the plan, and lays out mixtures of tiles.
bool tally(const Plan& plan, std::mt19937& random, Tally& all) {
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

/// Without all waits, or acquires, of a channel by a role: some are implied by others.
void tally_without_waits(const Plan& plan, std::mt19937& random, Tally& all) {
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

TEST(Mixtures, ThatAreCalledDecidedKeepAllRules) {
  Tally drafted, changed;
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
      if (every_wait) tally_without_waits(*draft, random, changed);
    }
  }
  std::cout << "drafted: decided " << drafted.decided << ", undecided " << drafted.undecided
            << ", broken " << drafted.broken << "\nchanged: decided " << changed.decided
            << ", undecided " << changed.undecided << ", broken " << changed.broken << "\n";
  EXPECT_GT(drafted.decided, 50);  // or nothing was tested
}

}  // namespace
}  // namespace twill::plan::testing
