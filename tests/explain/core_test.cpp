#include "twill/explain/core.h"

#include <algorithm>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "solve/random_problem.h"
#include "solve/solve_text.h"
#include "solve/z3_oracle.h"
#include "twill/problem/problem.h"
#include "twill/schedule/bounds.h"

namespace twill::explain {
namespace {

using problem::Problem;
using schedule::Answer;
using schedule::Verdict;
using solve_test::bundled;
using solve_test::problem_of;
using solve_test::random_problem;
using solve_test::with_register_budget;
using solve_test::with_transfer_ops;
using solve_test::z3_feasible;

/// Large II: a loop of a few short ops has a schedule at this II if it has one at all.
constexpr Cycles kLarge = 200;

std::string text_of(const Problem& problem) {
  return schedule::print_loop(schedule::loop_text_of(problem));
}

Core core_of(const Problem& problem, std::optional<Cycles> ii) {
  const Limits limits;
  Asker asker(limits);
  return minimal_core(problem, requirements_of(problem), ii, asker);
}

std::vector<Requirement> except(std::vector<Requirement> requirements, const Requirement& one) {
  std::erase(requirements, one);
  return requirements;
}

/// Checks a core with Z3, which shares no code with the search. The core leaves no schedule, and
/// each core with one requirement less leaves one. Returns how often Z3 gave up.
int expect_minimal(const Problem& problem, const Core& core, Cycles ii) {
  EXPECT_TRUE(core.minimal);
  int unknown = 0;
  const auto expect = [&](const Problem& less, bool feasible) {
    const std::optional<bool> z3 = z3_feasible(less, ii, {}, {});
    EXPECT_NE(z3, std::optional(!feasible));
    unknown += z3 ? 0 : 1;
  };
  expect(only(problem, core.requirements), false);
  for (const Requirement& it : core.requirements) {
    SCOPED_TRACE("without kind " + std::to_string(static_cast<int>(it.kind)) + " index " +
                 std::to_string(it.index));
    expect(only(problem, except(core.requirements, it)), true);
  }
  return unknown;
}

/// Counts of explained problems by kind.
struct Explained {
  int held = 0;
  int infeasible = 0;
  int handed = 0;   ///< cores with a transfer
  int unknown = 0;  ///< questions that Z3 gave up
};

/// Checks the core of the problem's verdict.
void expect_explained(const Problem& problem, Explained& explained) {
  const Answer answer = solve::solve(problem);
  const bool infeasible = answer.verdict == Verdict::infeasible;
  ASSERT_TRUE(infeasible || answer.verdict == Verdict::optimal);
  const Cycles below = infeasible ? kLarge : answer.schedule->initiation_interval - 1;
  if (below == 0) return;
  ++(infeasible ? explained.infeasible : explained.held);
  const Core core = core_of(problem, infeasible ? std::nullopt : std::optional(below));
  explained.unknown += expect_minimal(problem, core, below);
  const bool handed =
      std::any_of(core.requirements.begin(), core.requirements.end(),
                  [](const Requirement& it) { return it.kind == Kind::transfer_costs; });
  explained.handed += handed ? 1 : 0;
}

// Protects the claim of every explanation: these requirements alone make the II impossible, and
// each of them is needed.
TEST(Core, IsMinimalByZ3) {
  std::mt19937 random(31);
  Explained explained;
  for (int round = 0; round < 120; ++round) {
    const Problem problem = random_problem(random, {.ops = 2 + round % 4, .groups = 1 + round % 2});
    SCOPED_TRACE("round " + std::to_string(round) + "\n" + text_of(problem));
    expect_explained(problem, explained);
  }
  EXPECT_GT(explained.held, 60);
  EXPECT_GT(explained.infeasible, 5);
  EXPECT_EQ(explained.unknown, 0);
}

// Protects the same claim for loops with transfers, where values that change groups take stores and
// loads.
TEST(Core, OfTransfersIsMinimalByZ3) {
  std::mt19937 random(33);
  Explained explained;
  for (int round = 0; round < 80; ++round) {
    const Problem problem = with_transfer_ops(
        random, random_problem(random, {.ops = 2 + round % 3, .groups = 2 + round % 2}));
    SCOPED_TRACE("round " + std::to_string(round) + "\n" + text_of(problem));
    expect_explained(problem, explained);
  }
  EXPECT_GT(explained.held, 30);
  EXPECT_GT(explained.infeasible, 5);
  EXPECT_GT(explained.handed, 2);
  EXPECT_LT(explained.unknown, 20);
}

// Protects: a transfer is a reason if two groups would be fast enough with free transfers. Even
// then the load waits, so the loop needs a cycle without another issue.
TEST(Core, NamesATransfer) {
  const Problem problem = problem_of(
      "loop x\ngroup G registers 9\ngroup H registers 9\n"
      "op a issue 4 latency 4 registers 2\nop b issue 4 latency 4\n"
      "op put issue 2 latency 2\nop get issue 2 latency 2 registers 2\n"
      "a -> b\nhand-off a store put load get for b\n");
  ASSERT_EQ(solve_test::optimal_interval(problem), 6);
  const Core core = core_of(problem, 5);
  EXPECT_EQ(
      core.requirements,
      (std::vector<Requirement>{
          {Kind::transfer_costs, 0}, {Kind::issue, 0}, {Kind::issue, 1}, {Kind::dependence, 0}}));
}

// Protects the proof that each requirement of a core is needed. Dropping one may only add
// schedules, and with all of them the Problem is unchanged.
TEST(Requirements, DroppingOneNeverHurts) {
  std::mt19937 random(32);
  const auto least = [](const Problem& problem) {
    const Answer answer = solve::solve(problem);
    return answer.schedule ? answer.schedule->initiation_interval : kLarge;
  };
  for (int round = 0; round < 60; ++round) {
    Problem problem = random_problem(random, {.ops = 4, .groups = 2, .alternatives = 2});
    std::mt19937 own(static_cast<unsigned>(round));
    if (round % 3 == 0) problem = with_transfer_ops(random, problem);
    if (round % 3 == 1) problem = with_register_budget(own, problem);
    if (round % 3 == 2) problem = solve_test::with_tight_memory(own, problem);
    SCOPED_TRACE("round " + std::to_string(round) + "\n" + text_of(problem));
    const Cycles whole = least(problem);
    const std::vector<Requirement> requirements = requirements_of(problem);
    EXPECT_EQ(least(only(problem, requirements)), whole);
    for (const Requirement& it : requirements) {
      EXPECT_LE(least(without(problem, {&it, 1})), whole) << static_cast<int>(it.kind);
    }
    EXPECT_EQ(least(only(problem, {})), 1) << "nothing is demanded";
  }
}

/// Reduces the requirements of the loop's largest bound, for one cycle less.
Core core_of_bound(const Problem& problem, Cycles ii) {
  const Limits limits;
  Asker asker(limits);
  return minimal_core(problem, requirements_of_bound(problem, schedule::min_ii(problem)), ii,
                      asker);
}

// Protects: bounds need no search, so their requirements leave no schedule by the bounds alone; a
// low II needs fewer requirements.
TEST(Core, OfABoundIsThatBound) {
  const Problem unit = bundled("fwd_b2");
  const Core all = core_of_bound(unit, 2063);
  ASSERT_EQ(all.requirements.size(), 4u) << "alphaA, expA, alphaB, expB";
  for (const Requirement& it : all.requirements) EXPECT_EQ(it.kind, Kind::hold);
  EXPECT_EQ(schedule::min_ii(only(unit, all.requirements)).value, 2064);
  EXPECT_EQ(core_of_bound(unit, 2000).requirements.size(), 2u) << "both exponentials";
  EXPECT_EQ(core_of_bound(unit, 1000).requirements.size(), 1u) << "one exponential";

  const Problem circuit = bundled("meta_fwdsub");
  const Core around = core_of_bound(circuit, 1032);
  for (const Requirement& it : around.requirements) EXPECT_EQ(it.kind, Kind::dependence);
  EXPECT_EQ(schedule::min_ii(only(circuit, around.requirements)).value, 1033);

  const Problem pipe = problem_of("loop x\npipe P\ngroup G\nop a uses P 5\nop b uses P 4\n");
  EXPECT_EQ(core_of_bound(pipe, 8).requirements,
            (std::vector<Requirement>{{Kind::demand, 0, 0}, {Kind::demand, 1, 0}}));
  EXPECT_EQ(core_of_bound(pipe, 3).requirements.size(), 1u);

  const Problem issue = problem_of("loop x\ngroup G\nop a issue 5\nop b issue 4\n");
  EXPECT_EQ(core_of_bound(issue, 8).requirements,
            (std::vector<Requirement>{{Kind::group_count, 0}, {Kind::issue, 0}, {Kind::issue, 1}}));
  EXPECT_EQ(core_of_bound(issue, 4).requirements, (std::vector<Requirement>{{Kind::issue, 0}}));
}

// Protects a reason that only a search can see: two values that fit one after the other, but not at
// once.
TEST(Core, NamesRegistersAndGroups) {
  const Problem problem = problem_of(
      "loop x\nunit U\ngroup G registers 10\n"
      "op a on U for 4 latency 4 registers 6\nop b on U for 4 latency 4 registers 6\n"
      "op c issue 0 latency 0\nop d issue 0 latency 0\n"
      "a -> c delay 8\nb -> d delay 8\n");
  const Answer answer = solve::solve(problem);
  ASSERT_EQ(answer.verdict, Verdict::optimal);
  ASSERT_EQ(answer.schedule->initiation_interval, 16) << "two lives of 8 cycles, one at a time";
  const Core core = core_of(problem, 15);
  EXPECT_EQ(core.requirements, (std::vector<Requirement>{{Kind::group_count, 0},
                                                         {Kind::register_limit, 0},
                                                         {Kind::registers, 0},
                                                         {Kind::registers, 1},
                                                         {Kind::dependence, 0},
                                                         {Kind::dependence, 1}}));
}

// Protects the same reason with a second group: each has room for one of the values, but the two
// share too little.
TEST(Core, NamesRegisterBudgets) {
  const Problem problem = problem_of(
      "loop x\nunit U\ngroup G registers 10\ngroup H registers 10\nregister-budget 11 of G H\n"
      "op a on U for 4 latency 4 registers 6\nop b on U for 4 latency 4 registers 6\n"
      "op c issue 0 latency 0\nop d issue 0 latency 0\n"
      "a -> c delay 8\nb -> d delay 8\n");
  const Answer answer = solve::solve(problem);
  ASSERT_EQ(answer.verdict, Verdict::optimal);
  ASSERT_EQ(answer.schedule->initiation_interval, 16);
  const std::vector<Requirement> requirements = core_of(problem, 15).requirements;
  EXPECT_NE(std::find(requirements.begin(), requirements.end(), Requirement{Kind::budget, 0}),
            requirements.end());
}

// Protects: a limit may cost the proof that a core is minimal, never the claim that it is a core.
TEST(Core, SaysThatItMayNotBeMinimal) {
  const Problem problem = bundled("bwd_h1");
  Limits limits;
  limits.work_limit = 3'000'000;
  Asker asker(limits);
  const Core core = minimal_core(problem, requirements_of(problem), 1531, asker);
  EXPECT_FALSE(core.minimal);
  EXPECT_EQ(solve::decide(only(problem, core.requirements), 1531).decided,
            solve::Decided::infeasible);
}

}  // namespace
}  // namespace twill::explain
