#include <cstdint>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plan/explorer.h"
#include "plan/plans.h"
#include "twill/plan/text.h"

// Protects the proof: an accepted plan runs correctly in every order, and statements about whole
// plans agree with running them.
namespace twill::plan::testing {
namespace {

constexpr std::size_t kMostStates = 60'000;

std::vector<std::vector<Step>*> role_sequences(Role& role) {
  std::vector<std::vector<Step>*> all = {&role.sections.prologue, &role.sections.steady,
                                         &role.sections.drain};
  for (auto& path : role.sections.short_trips) all.push_back(&path);
  if (!role.tail.empty()) all.push_back(&role.tail);
  return all;
}

class KindMutator {
 public:
  KindMutator(Plan plan, unsigned seed) : plan_(std::move(plan)), random_(seed) {}

  /// Makes one change somewhere, and describes it.
  std::string mutate() {
    if (cluster_size(plan_) > 1 && pick(4) == 0) return change_cluster();
    switch (pick(10)) {
      case 0:
      case 1:
        return drop_step();
      case 2:
      case 3:
        return swap_steps();
      case 4:
        return move_step();
      case 5:
        return change_count();
      case 6:
        return change_depth();
      case 7:
        return change_step();
      case 8:
        return change_place();
      default:
        return change_parity();
    }
  }
  const Plan& plan() const { return plan_; }

 private:
  std::size_t pick(std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(random_);
  }

  std::vector<Step>& sequence() {
    for (;;) {
      auto all = role_sequences(plan_.roles[pick(plan_.roles.size())]);
      std::vector<Step>& steps = *all[pick(all.size())];
      if (steps.size() > 1) return steps;
    }
  }

  std::string drop_step() {
    std::vector<Step>& steps = sequence();
    const std::size_t at = pick(steps.size());
    const std::string what = "drop " + to_text(plan_, steps[at]);
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(at));
    return what;
  }

  std::string swap_steps() {
    std::vector<Step>& steps = sequence();
    const std::size_t at = pick(steps.size() - 1);
    std::swap(steps[at], steps[at + 1]);
    return "swap " + to_text(plan_, steps[at]) + " and " + to_text(plan_, steps[at + 1]);
  }

  std::string move_step() {
    std::vector<Step>& steps = sequence();
    const std::size_t from = pick(steps.size());
    const Step step = steps[from];
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(from));
    const std::size_t to = pick(steps.size() + 1);
    steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(to), step);
    return "move " + to_text(plan_, step);
  }

  std::string change_count() {
    if (plan_.channels.empty()) return drop_step();
    Channel& channel = plan_.channels[pick(plan_.channels.size())];
    int& count = pick(2) == 0 || channel.empty_arrivals == 0 ? channel.full_arrivals
                                                             : channel.empty_arrivals;
    count += pick(2) == 0 && count > 1 ? -1 : 1;
    return "count of " + channel.name;
  }

  std::string change_depth() {
    if (pick(2) == 0 && !plan_.channels.empty()) {
      Channel& channel = plan_.channels[pick(plan_.channels.size())];
      channel.depth += pick(2) == 0 && channel.depth > 1 ? -1 : 1;
      return "depth of channel " + channel.name;
    }
    Buffer& buffer = plan_.buffers[pick(plan_.buffers.size())];
    buffer.depth += pick(2) == 0 && buffer.depth > 1 ? -1 : 1;
    return "depth of buffer " + buffer.name;
  }

  std::string change_step() {
    std::vector<Step>& steps = sequence();
    Step& step = steps[pick(steps.size())];
    const std::string what = "change " + to_text(plan_, step);
    switch (pick(4)) {
      case 0:
        step.instance.offset += pick(2) == 0 ? 1 : -1;
        return what + " iteration";
      case 1:
        ++step.pending;
        return what + " pending";
      case 2:
        step.by = step.by == By::one_warp ? By::every_warp : By::one_warp;
        return what + " by";
      default:
        step.arrival = step.arrival == Arrival::threads ? Arrival::asynchronous : Arrival::threads;
        return what + " arrival";
    }
  }

  std::string change_place() {
    Buffer& buffer = plan_.buffers[pick(plan_.buffers.size())];
    if (buffer.residence == Residence::registers) {
      buffer.size = buffer.size > 1 ? buffer.size - 1 : 100;
      return "registers of " + buffer.name;
    }
    buffer.offset = plan_.buffers[pick(plan_.buffers.size())].offset;
    return "place of " + buffer.name;
  }

  std::string change_parity() {
    if (plan_.channels.empty()) return drop_step();
    Channel& channel = plan_.channels[pick(plan_.channels.size())];
    int& parity = pick(2) == 0 ? channel.full_parity : channel.empty_parity;
    parity = 1 - parity;
    return "parity of " + channel.name;
  }

  /// Changes a step that synchronizes the two CTAs.
  std::string change_cluster() {
    Channel& channel = plan_.channels[pick(plan_.channels.size())];
    switch (pick(4)) {
      case 0:
        channel.scope = channel.scope == Scope::cluster ? Scope::cta : Scope::cluster;
        return "scope of " + channel.name;
      case 1:  // counts that fit, but no step asks the other CTA
        channel.scope = Scope::cta;
        channel.empty_arrivals /= 2;
        return "scope and count of " + channel.name;
      case 2:
        channel.bytes = pick(2) == 0 ? channel.bytes / 2 : channel.bytes * 2;
        return "bytes of " + channel.name;
      default:
        return drop_leave();
    }
  }

  /// Drops the `leave` of one role, or of all.
  std::string drop_leave() {
    const std::size_t only = pick(plan_.roles.size() + 1);
    for (std::size_t r = 0; r < plan_.roles.size(); ++r) {
      if (only < plan_.roles.size() && r != only) continue;
      std::erase_if(plan_.roles[r].tail,
                    [](const Step& step) { return step.kind == StepKind::leave; });
    }
    return "drop leave";
  }

  Plan plan_;
  std::mt19937 random_;
};

struct Tally {
  int accepted = 0;
  int rejected = 0;
  int seen_to_fail = 0;  ///< of the rejected plans: some order goes wrong with few trips
  int too_large = 0;
};

/// Trips that fill the deepest ring and return to its first slot.
std::int64_t trips_of(const Plan& plan) {
  int deepest = 1;
  for (const Channel& channel : plan.channels) deepest = std::max(deepest, channel.depth);
  return deepest + 2;
}

/// The first fault in some order, for few trips.
std::string failure_of(const Plan& plan, Tally& tally) {
  for (std::int64_t trips = 0; trips <= trips_of(plan); ++trips) {
    const Exploration result = explore(plan, trips, kMostStates);
    if (result.end == Exploration::End::too_large) {
      ++tally.too_large;
      return "";
    }
    if (result.end == Exploration::End::fine) continue;
    return std::to_string(trips) +
           " trips: " + (result.end == Exploration::End::stuck ? "stuck: " : "wrong: ") +
           result.what;
  }
  return "";
}

void check_mutants(const Plan& good, unsigned mutants) {
  Tally tally;
  const auto proven = prove(good);
  ASSERT_TRUE(proven.has_value()) << text_of(proven.error());
  ASSERT_EQ(failure_of(good, tally), "");
  for (unsigned seed = 0; seed < mutants; ++seed) {
    KindMutator mutator(good, seed);
    const std::string what = mutator.mutate();
    const auto verdict = prove(mutator.plan());
    if (!verdict) {
      ++tally.rejected;
      if (has_rule(verdict.error(), "well-formed")) continue;
      if (!failure_of(mutator.plan(), tally).empty()) ++tally.seen_to_fail;
      continue;
    }
    ++tally.accepted;
    EXPECT_EQ(failure_of(mutator.plan(), tally), "")
        << "seed " << seed << ": accepted, but " << what << "\n"
        << to_text(mutator.plan());
  }
  std::cout << "accepted " << tally.accepted << ", rejected " << tally.rejected
            << ", of these seen to fail " << tally.seen_to_fail << ", too large " << tally.too_large
            << "\n";
  // The test is worthless if nearly all mutants are rejected, or nearly none.
  EXPECT_GT(tally.accepted, 0);
  EXPECT_GT(tally.seen_to_fail, static_cast<int>(mutants) / 4);
}

/// A load that two CTAs share, and threads that read it from shared memory.
constexpr const char* kSharedByThreads = R"(
loop shared
unit TMA
memory SMEM capacity 4
group L warps 1 loads
group C warps 1 registers 20
op ld on TMA for 2 latency 6 issue 1 warps 1 occupies SMEM 2 async streaming
op use latency 3 issue 3 warps 1 registers 1
op f latency 2 issue 2 warps 1 registers 1
ld -> use blocking
use -> f
f -> f distance 1
)";

/// The same with asynchronous work that reads the buffer for more than an iteration.
constexpr const char* kSharedByProducts = R"(
loop shared
unit TC
unit TMA
memory SMEM capacity 4
group L warps 1 loads
group C warps 1 registers 20
op ld on TMA for 2 latency 6 issue 1 warps 1 occupies SMEM 2 async streaming
op mm on TC for 4 latency 6 issue 1 warps 1 registers 4 async
op f latency 2 issue 2 warps 1 registers 1
ld -> mm blocking
mm -> f blocking
f -> f distance 1
)";

void check_mutants_of_pair(const char* loop, unsigned mutants) {
  const Plan plan = cluster_plan(true, Mechanism::tma_multicast, loop);
  ASSERT_EQ(cluster_size(plan), 2);
  check_mutants(plan, mutants);
}

TEST(Mutation, OfALoadThatThreadsOfTwoCtasShare) { check_mutants_of_pair(kSharedByThreads, 40); }
TEST(Mutation, OfALoadThatProductsOfTwoCtasShare) { check_mutants_of_pair(kSharedByProducts, 40); }

TEST(Mutation, OfAsynchronousWorkInRegisters) { check_mutants(plan_of(kRegisters), 300); }
TEST(Mutation, OfTensorMemoryHandedBackAndForth) { check_mutants(plan_of(kTensor), 60); }
TEST(Mutation, OfValuesBetweenRoles) { check_mutants(plan_of(kCrossing), 300); }
TEST(Mutation, OfTurnsOnTheTensorCore) { check_mutants(plan_of(kTurns), 300); }
TEST(Mutation, OfTurnsInRegions) { check_mutants(plan_of_regions(), 200); }

}  // namespace
}  // namespace twill::plan::testing
