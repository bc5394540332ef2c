#include <algorithm>
#include <cstdio>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "solve/random_problem.h"
#include "solve/rounds.h"
#include "solve/z3_oracle.h"
#include "twill/problem/problem.h"
#include "twill/schedule/loop_text.h"
#include "twill/solve/solve.h"
#include "twill/verify/verify.h"

namespace twill::solve {
namespace {

using problem::Objective;
using problem::Problem;
using schedule::Answer;
using schedule::Schedule;
using schedule::Verdict;
using solve_test::text_of;

std::int64_t measure(const Problem& problem, const Schedule& schedule, Objective objective) {
  std::vector<std::size_t> groups;
  std::vector<std::pair<std::size_t, std::size_t>> sent;
  for (const auto& placement : schedule.ops) groups.push_back(placement.group.index());
  for (const auto& it : problem.dependences()) {
    const std::size_t to = groups[it.to.index()];
    const bool crosses = it.carries_value && problem[it.from].registers > 0;
    if (crosses && groups[it.from.index()] != to) sent.emplace_back(it.from.index(), to);
  }
  const auto distinct = [](auto values) {
    std::sort(values.begin(), values.end());
    return std::unique(values.begin(), values.end()) - values.begin();
  };
  if (objective == Objective::groups) return distinct(groups);
  if (objective == Objective::crossings) return distinct(sent);
  return schedule::length_of(problem, schedule);
}

std::vector<std::int64_t> measure(const Problem& problem, const Schedule& schedule) {
  std::vector<std::int64_t> values = {schedule.initiation_interval};
  for (const Objective it : problem.objectives()) values.push_back(measure(problem, schedule, it));
  return values;
}

/// Checks that an answer with a schedule keeps its claims.
void expect_honest(const Problem& problem, const Answer& answer) {
  ASSERT_TRUE(answer.schedule.has_value());
  const auto checked = verify::verify(problem, *answer.schedule);
  ASSERT_TRUE(checked.has_value()) << checked.error().front().message << "\n" << text_of(problem);
  const std::vector<std::int64_t> values = measure(problem, *answer.schedule);
  ASSERT_EQ(answer.objectives.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(answer.objectives[i].value, values[i]) << answer.objectives[i].name;
  }
  if (answer.verdict != Verdict::optimal) return;
  for (const auto& level : answer.objectives) {
    EXPECT_TRUE(level.proven);
    EXPECT_EQ(level.bound, level.value);
  }
}

/// Counts of what a comparison compared.
struct Compared {
  int infeasible = 0;
  int above_bound = 0;  ///< loops with an II above every bound
  int crossing = 0;     ///< schedules with a transfer
  int refuted = 0;
  int unknown = 0;
};

bool transfers_values(const Problem& problem, const Schedule& schedule) {
  return std::any_of(problem.transfers().begin(), problem.transfers().end(),
                     [&](const auto& it) { return schedule.ops[it.store.index()].exists; });
}

/// Compares the answer with Z3's verdict on anything better.
void compare_with_z3(const Problem& problem, Compared& compared) {
  const Answer answer = solve(problem);
  if (answer.verdict == Verdict::infeasible) {
    ++compared.infeasible;
    for (const Cycles ii : {3, 20, 100}) {
      ASSERT_NE(solve_test::z3_feasible(problem, ii, {}, {}), std::optional(true)) << ii;
    }
    return;
  }
  ASSERT_EQ(answer.verdict, Verdict::optimal) << answer.argument;
  expect_honest(problem, answer);
  const Cycles ii = answer.schedule->initiation_interval;
  if (answer.lower_bound.kind == schedule::BoundKind::search) ++compared.above_bound;
  if (transfers_values(problem, *answer.schedule)) ++compared.crossing;
  const auto expect_refuted = [&](Cycles at, const std::vector<std::int64_t>& values,
                                  std::optional<std::int64_t> limit) {
    const std::optional<bool> feasible = solve_test::z3_feasible(problem, at, values, limit);
    EXPECT_NE(feasible, std::optional(true));
    ++(feasible ? compared.refuted : compared.unknown);
  };
  if (ii > 1) expect_refuted(ii - 1, {}, {});
  std::vector<std::int64_t> above;
  for (std::size_t i = 1; i < answer.objectives.size(); ++i) {
    const std::int64_t value = answer.objectives[i].value;
    expect_refuted(ii, above, value - 1);
    above.push_back(value);
  }
  EXPECT_NE(solve_test::z3_feasible(problem, ii, above, {}), std::optional(false));
}

solve_test::Size size_of(int round) {
  solve_test::Size size;
  size.ops = 2 + round % 4;
  size.groups = 1 + round % 3;
  return size;
}

// Protects II, every objective, and infeasibility, against Z3 on an encoding in absolute cycles:
// there is no smaller value at any level.
TEST(Differential, AgreesWithZ3) {
  std::mt19937 random(3);
  Compared compared;
  for (int round = 0; round < solve_test::rounds(200); ++round) {
    const Problem problem = solve_test::random_problem(random, size_of(round));
    SCOPED_TRACE("round " + std::to_string(round) + "\n" + text_of(problem));
    compare_with_z3(problem, compared);
  }
  std::printf(
      "differential: %d loops (%d infeasible, %d with an II above every bound); Z3 refutes what "
      "would be better %d times, does not know %d times\n",
      solve_test::rounds(200), compared.infeasible, compared.above_bound, compared.refuted,
      compared.unknown);
  EXPECT_GT(compared.infeasible, 5);
  EXPECT_GT(compared.above_bound, 8);
  EXPECT_LT(compared.unknown, solve_test::rounds(40));
}

// Protects the same for loops with transfers, some of which are needed.
TEST(Differential, AgreesWithZ3OnTransfers) {
  std::mt19937 random(4);
  Compared compared;
  for (int round = 0; round < solve_test::rounds(100); ++round) {
    solve_test::Size size = size_of(round);
    size.ops = 2 + round % 3;
    const Problem all =
        solve_test::with_transfer_ops(random, solve_test::random_problem(random, size));
    const Problem problem = round % 2 == 0 ? all : solve_test::for_length(all);
    SCOPED_TRACE("round " + std::to_string(round) + "\n" + text_of(problem));
    compare_with_z3(problem, compared);
  }
  std::printf("differential: %d schedules hand over; Z3 refutes %d times, does not know %d times\n",
              compared.crossing, compared.refuted, compared.unknown);
  EXPECT_GT(compared.infeasible, 5);
  EXPECT_GT(compared.above_bound, 8);
  EXPECT_GT(compared.crossing, 5);
  EXPECT_LT(compared.unknown, solve_test::rounds(40));
}

// Protects the same where groups share a register budget, and that some budgets change the answer.
TEST(Differential, AgreesWithZ3OnRegisterBudgets) {
  std::mt19937 random(17);
  Compared compared;
  int decisive = 0;
  for (int round = 0; round < solve_test::rounds(150); ++round) {
    solve_test::Size size;
    size.ops = 2 + round % 4;
    size.groups = 2 + round % 2;
    const Problem problem =
        solve_test::with_register_budget(random, solve_test::random_problem(random, size));
    SCOPED_TRACE("round " + std::to_string(round) + "\n" + text_of(problem));
    compare_with_z3(problem, compared);
    problem::Parts parts = problem.parts();
    parts.register_budgets.clear();
    const Answer without = solve(*problem::pose(std::move(parts)));
    if (without.schedule && !verify::verify(problem, *without.schedule)) ++decisive;
  }
  std::printf("differential: without its budget, %d of them have a schedule that breaks it\n",
              decisive);
  EXPECT_GT(compared.infeasible, 5);
  EXPECT_GT(compared.above_bound, 5);
  EXPECT_GT(decisive, 20);
  EXPECT_LT(compared.unknown, solve_test::rounds(30));
}

bool shares_addresses(const Schedule& schedule) {
  const auto& all = schedule.addresses;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i].offset == all[i - 1].offset) return true;
  }
  return false;
}

/// Whether the best schedule without the rule `placement` breaks the rule, so that the rule
/// decides.
bool placement_decides(const Problem& problem) {
  problem::Parts parts = problem.parts();
  parts.relaxed.push_back(problem::Rule::placement);
  std::sort(parts.relaxed.begin(), parts.relaxed.end());
  const Answer without = solve(*problem::pose(std::move(parts)));
  if (!without.schedule) return false;
  Schedule schedule = *without.schedule;
  return !verify::verify(problem, schedule);
}

// Protects the same where values of unequal sizes need addresses in a tight memory. Addresses
// decide there, not sums: for the schedule, and for the interval.
TEST(Differential, AgreesWithZ3OnPlacement) {
  std::mt19937 random(23);
  Compared compared;
  int decisive = 0;
  int sharing = 0;
  for (int round = 0; round < solve_test::rounds(150); ++round) {
    solve_test::Size size;
    size.ops = 3 + round % 3;
    size.groups = 1 + round % 2;
    if (round % 3 == 2) size.ops = 3;
    Problem problem =
        solve_test::with_tight_memory(random, solve_test::random_problem(random, size));
    if (round % 3 == 2) problem = solve_test::with_transfer_ops(random, problem);
    SCOPED_TRACE("round " + std::to_string(round) + "\n" + text_of(problem));
    compare_with_z3(problem, compared);
    if (placement_decides(problem)) ++decisive;
    const Answer answer = solve(problem);
    if (answer.schedule && shares_addresses(*answer.schedule)) ++sharing;
  }
  std::printf(
      "differential: %d with an II above every bound; %d where offsets decide, %d where values "
      "share "
      "them; Z3 refutes %d times, does not know %d times\n",
      compared.above_bound, decisive, sharing, compared.refuted, compared.unknown);
  EXPECT_GT(compared.above_bound, 8);
  EXPECT_GT(decisive, 5);
  EXPECT_GT(sharing, 3);
  EXPECT_LT(compared.unknown, solve_test::rounds(60));
}

/// Calls `use` with every schedule of the given II whose issue cycles are below `horizon`.
template <class Use>
void for_each_schedule(const Problem& problem, Cycles ii, Cycles horizon, Use use) {
  Schedule schedule;
  schedule.initiation_interval = ii;
  schedule.ops.resize(problem.ops().size());
  const auto place = [&](const auto& self, std::size_t op) -> void {
    if (op == schedule.ops.size()) return use(schedule);
    auto& at = schedule.ops[op];
    for (std::size_t alternative = 0; alternative < problem.ops()[op].alternatives.size();
         ++alternative) {
      for (std::size_t group = 0; group < problem.groups().size(); ++group) {
        for (Cycles issue = 0; issue < horizon; ++issue) {
          at = {issue, schedule::GroupId(group), static_cast<int>(alternative)};
          self(self, op + 1);
        }
      }
    }
  };
  place(place, 0);
}

// Protects the same against an enumeration of every schedule, checked by simulation; here with
// alternatives.
TEST(Differential, AgreesWithTryingEverything) {
  std::mt19937 random(5);
  int compared = 0;
  for (int round = 0; round < solve_test::rounds(60); ++round) {
    solve_test::Size size;
    size.ops = 2 + round % 2;
    size.cycles = 2;
    size.alternatives = 2;
    Problem problem = solve_test::random_problem(random, size);
    std::mt19937 own(static_cast<unsigned>(round));
    if (round % 3 == 0) problem = solve_test::with_register_budget(own, problem);
    if (round % 3 == 1) problem = solve_test::with_tight_memory(own, problem);
    SCOPED_TRACE("round " + std::to_string(round) + "\n" + text_of(problem));
    const Answer answer = solve(problem);
    const Cycles horizon = 6;
    const Cycles last = answer.schedule ? answer.schedule->initiation_interval : 4;
    std::optional<std::vector<std::int64_t>> best;
    for (Cycles ii = 1; ii <= std::min<Cycles>(last, 4) && !best; ++ii) {
      for_each_schedule(problem, ii, horizon, [&](const Schedule& schedule) {
        const std::vector<std::int64_t> values = measure(problem, schedule);
        if (best && *best <= values) return;
        if (verify::verify(problem, schedule)) best = values;
      });
    }
    if (answer.verdict == Verdict::infeasible) {
      EXPECT_FALSE(best.has_value());
      continue;
    }
    ASSERT_EQ(answer.verdict, Verdict::optimal);
    expect_honest(problem, answer);
    const std::vector<std::int64_t> values = measure(problem, *answer.schedule);
    if (best) {
      EXPECT_LE(values, *best);
    }
    const bool within = last <= 4 && schedule::length_of(problem, *answer.schedule) <= horizon;
    if (!within) continue;
    ++compared;
    EXPECT_EQ(best, std::optional(values));
  }
  std::printf("differential: %d loops next to all their schedules, the optimum among them of %d\n",
              solve_test::rounds(60), compared);
  EXPECT_GT(compared, 20);
}

}  // namespace
}  // namespace twill::solve
