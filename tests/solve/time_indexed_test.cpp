// Protects the engine with a third opinion. The engine works on residues and stages. Z3 works on
// absolute cycles with integers (differential_test.cpp), and here CaDiCaL on a boolean for each op
// and cycle. The encodings have only docs/reference/rules.md in common.

#include "solve/time_indexed.h"

#include <cstdio>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "solve/random_problem.h"
#include "solve/rounds.h"
#include "solve/solve_text.h"
#include "solve/z3_oracle.h"

namespace twill::solve {
namespace {

using problem::Problem;
using schedule::Answer;
using schedule::Verdict;
using solve_test::satisfiable;
using solve_test::time_indexed;

constexpr std::size_t kMostClauses = 400'000;

struct Counts {
  int loops = 0;
  int refuted = 0;  ///< questions with the answer no
  int found = 0;    ///< questions with the answer yes
  int infeasible = 0;
  int above_bound = 0;
  int too_large = 0;
  int unknown = 0;
};

/// Asks whether there is a schedule, and compares with the known answer.
void expect_answer(const Problem& problem, Cycles ii, const std::vector<std::int64_t>& values,
                   bool expected, Counts& counts) {
  const solve_test::Cnf cnf = time_indexed(problem, ii, values);
  if (cnf.clause_count() > kMostClauses) return void(++counts.too_large);
  const std::optional<bool> answer = satisfiable(cnf);
  if (!answer) return void(++counts.unknown);
  EXPECT_EQ(*answer, expected) << "II " << ii << ", " << values.size() << " objectives";
  ++(*answer ? counts.found : counts.refuted);
}

/// Checks every level of an optimum: it exists, and nothing better exists.
void expect_optimum(const Problem& problem, const Answer& answer, Counts& counts) {
  const Cycles ii = answer.schedule->initiation_interval;
  if (ii > 1) expect_answer(problem, ii - 1, {}, false, counts);
  std::vector<std::int64_t> values;
  for (std::size_t i = 1; i < answer.objectives.size(); ++i) {
    values.push_back(answer.objectives[i].value - 1);
    expect_answer(problem, ii, values, false, counts);
    ++values.back();
  }
  expect_answer(problem, ii, values, true, counts);
}

// Protects the II, every objective and infeasibility, alternatives of ops included, against a SAT
// solver on the time-indexed form. The schedule exists, and nothing is better.
TEST(TimeIndexed, AgreesWithCadical) {
  if (!solve_test::has_cadical()) GTEST_SKIP() << "no cadical on PATH when this was configured";
  std::mt19937 random(31);
  Counts counts;
  for (int round = 0; round < solve_test::rounds(80); ++round) {
    Problem problem = solve_test::random_problem(
        random, {.ops = 2 + round % 3, .groups = 1 + round % 3, .alternatives = 1 + round % 2});
    std::mt19937 own(static_cast<unsigned>(round));
    if (round % 4 == 1) problem = solve_test::with_register_budget(own, problem);
    SCOPED_TRACE("round " + std::to_string(round) + "\n" +
                 schedule::print_loop(schedule::loop_text_of(problem)));
    const Answer answer = solve_test::solve_checked(problem);
    ++counts.loops;
    if (answer.verdict == Verdict::infeasible) {
      ++counts.infeasible;
      for (const Cycles ii : {2, 5, 9}) expect_answer(problem, ii, {}, false, counts);
      continue;
    }
    ASSERT_EQ(answer.verdict, Verdict::optimal) << answer.argument;
    if (answer.lower_bound.kind == schedule::BoundKind::search) ++counts.above_bound;
    expect_optimum(problem, answer, counts);
  }
  std::printf(
      "time-indexed: %d loops (%d infeasible, %d with an II above every bound); CaDiCaL refutes "
      "%d, "
      "finds %d, does not know %d; %d were too large to ask\n",
      counts.loops, counts.infeasible, counts.above_bound, counts.refuted, counts.found,
      counts.unknown, counts.too_large);
  EXPECT_GT(counts.infeasible, 2);
  EXPECT_GT(counts.above_bound, 4);
  EXPECT_GT(counts.refuted, 150);
  EXPECT_GT(counts.found, 40);
  EXPECT_LT(counts.unknown + counts.too_large, counts.loops);
}

// Protects the encoding itself, against Z3's, at intervals around the optimum. So a wrong question
// to one of these solvers shows.
TEST(TimeIndexed, AgreesWithZ3) {
  if (!solve_test::has_cadical()) GTEST_SKIP() << "no cadical on PATH when this was configured";
  std::mt19937 random(32);
  int feasible = 0;
  int refuted = 0;
  for (int round = 0; round < solve_test::rounds(20); ++round) {
    Problem problem =
        solve_test::random_problem(random, {.ops = 2 + round % 3, .groups = 1 + round % 2});
    std::mt19937 own(static_cast<unsigned>(round));
    if (round % 3 == 0) problem = solve_test::with_register_budget(own, problem);
    SCOPED_TRACE("round " + std::to_string(round) + "\n" +
                 schedule::print_loop(schedule::loop_text_of(problem)));
    for (Cycles ii = 1; ii <= 6; ++ii) {
      const solve_test::Cnf cnf = time_indexed(problem, ii, {});
      if (cnf.clause_count() > kMostClauses) continue;
      const std::optional<bool> one = satisfiable(cnf);
      const std::optional<bool> other = solve_test::z3_feasible(problem, ii, {}, {});
      if (!one || !other) continue;
      EXPECT_EQ(*one, *other) << "II " << ii;
      ++(*one ? feasible : refuted);
    }
  }
  std::printf("time-indexed: Z3 and CaDiCaL agree on %d intervals with and %d without a schedule\n",
              feasible, refuted);
  EXPECT_GT(feasible, 20);
  EXPECT_GT(refuted, 20);
}

}  // namespace
}  // namespace twill::solve
