#include <algorithm>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plan/explorer.h"
#include "plan/plans.h"
#include "plan/random_loop.h"
#include "twill/plan/text.h"

// Protects drafting and proof against each other, on random loops: a schedule becomes a proven plan
// or is refused with a reason. A proven plan runs correctly in every order.
namespace twill::plan::testing {
namespace {

constexpr std::size_t kMostRandomStates = 10'000;
constexpr std::int64_t kMostTrips = 4;

/// Drafts like the driver: first with the necessary waits, then with all waits.
struct Attempt {
  std::optional<ProvenPlan> plan;
  std::string refusal;
  std::string failure;
};

Attempt attempt(const problem::Problem& problem, const schedule::Schedule& schedule) {
  Attempt result;
  const auto checked = verify::verify(problem, schedule);
  if (!checked) {
    result.failure = "not a schedule";
    return result;
  }
  for (const bool every_wait : {false, true}) {
    Setting setting;
    setting.every_wait = every_wait;
    const auto draft = draft_plan(*checked, setting);
    if (!draft) {
      result.failure.clear();
      result.refusal = to_string(draft.error());
      return result;
    }
    const auto proven = prove(*draft);
    if (proven) {
      result.failure.clear();
      result.plan = *proven;
      return result;
    }
    result.failure = text_of(proven.error()) + to_text(*draft);
  }
  return result;
}

bool is_read(const problem::Problem& problem, OpId op) {
  const auto& edges = problem.dependences();
  return std::any_of(edges.begin(), edges.end(), [&](const problem::Dependence& edge) {
    return edge.from == op && edge.carries_value;
  });
}

/// Products that are in flight at the back edge of their role's loop, which moves their results to
/// other registers there. Left out are products that no op reads, or that the last cycle of the
/// window issues.
std::vector<OpId> moved_in_flight(const Plan& plan) {
  std::vector<OpId> found;
  for (const Role& role : plan.roles) {
    std::vector<OpId> flying;
    for (const Step& step : role.sections.steady) {
      if (step.kind == StepKind::drain_groups && step.queue == Mechanism::wgmma) {
        const auto pending = static_cast<std::size_t>(step.pending);
        if (flying.size() > pending) flying.erase(flying.begin(), flying.end() - step.pending);
      }
      const bool starts = step.kind == StepKind::issue && step.op.has_value();
      if (starts && plan.mechanisms[step.op->index()] == Mechanism::wgmma) {
        flying.push_back(*step.op);
      }
    }
    for (const OpId op : flying) {
      const auto home = plan.values[op.index()].home;
      const bool last =
          schedule::slot_of(plan.schedule, op) + 1 == plan.schedule.initiation_interval;
      if (home && plan[*home].residence == Residence::registers && plan[*home].depth > 1 && !last &&
          is_read(plan.problem, op)) {
        found.push_back(op);
      }
    }
  }
  return found;
}

bool has_copies_of_product(const Plan& plan) {
  for (std::size_t v = 0; v < plan.mechanisms.size(); ++v) {
    const auto home = plan.values[v].home;
    if (plan.mechanisms[v] == Mechanism::wgmma && home && plan[*home].depth > 1) return true;
  }
  return false;
}

struct RandomTally {
  int rotated = 0;  ///< plans with a product that has several copies in registers
  int proven = 0;
  int refused = 0;
  int explored = 0;  ///< in every order, for every trip count tried
};

void explore_all(const Plan& plan, unsigned seed, RandomTally& tally) {
  bool all = true;
  for (std::int64_t trips = 0; trips <= kMostTrips && all; ++trips) {
    const Exploration run = explore(plan, trips, kMostRandomStates);
    all = run.end != Exploration::End::too_large;
    if (!all || run.end == Exploration::End::fine) continue;
    ADD_FAILURE() << "seed " << seed << ", " << trips << " trips, proven, but " << run.what << "\n"
                  << to_text(plan);
    return;
  }
  if (all) ++tally.explored;
}

void check_loops(unsigned first, unsigned count) {
  RandomTally tally;
  for (unsigned seed = first; seed < first + count; ++seed) {
    std::mt19937 random(seed);
    const problem::Problem loop = random_loop(random);
    const schedule::Answer answer = solve::solve(loop, {});
    if (!answer.schedule) continue;
    const bool best = seed % 2 == 0;
    const Attempt plan =
        attempt(loop, best ? *answer.schedule : disturbed(random, loop, *answer.schedule));
    EXPECT_EQ(plan.failure, "") << "seed " << seed;
    if (!plan.refusal.empty()) ++tally.refused;
    if (!plan.plan) continue;
    ++tally.proven;
    EXPECT_EQ(moved_in_flight(plan.plan->plan()), std::vector<OpId>())
        << "seed " << seed << "\n"
        << to_text(plan.plan->plan());
    if (has_copies_of_product(plan.plan->plan())) ++tally.rotated;
    explore_all(plan.plan->plan(), seed, tally);
  }
  std::cout << "proven " << tally.proven << ", refused " << tally.refused << ", explored "
            << tally.explored << ", with copies of products " << tally.rotated << "\n";
  // The test is worthless if nearly all plans are refused or too large to explore.
  EXPECT_GT(tally.proven, static_cast<int>(count) / 3);
  EXPECT_GT(tally.explored, tally.proven / 2);
  EXPECT_GT(tally.rotated, 10);
}

TEST(RandomLoops, AreRefusedOrRunCorrectly) { check_loops(0, 400); }

}  // namespace
}  // namespace twill::plan::testing
