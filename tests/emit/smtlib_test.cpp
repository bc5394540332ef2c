#include "twill/emit/smtlib.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "emit/z3_answer.h"
#include "solve/random_problem.h"
#include "solve/rounds.h"
#include "twill/problem/problem.h"
#include "twill/schedule/loop_text.h"
#include "twill/solve/solve.h"

// The exported question is a second encoding of the rules, and Z3 a second solver. Together they
// check the engine's verdicts, and the engine checks the encoding.
namespace twill::emit {
namespace {

using emit_test::z3_answer;
using problem::Problem;
using schedule::Answer;
using schedule::Schedule;
using schedule::Verdict;

Problem bundled(const std::string& name) {
  const std::string path = std::string(TWILL_SOURCE_DIR) + "/loops/" + name + ".loop";
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  auto loop = schedule::parse_loop(text, path);
  if (!loop) throw std::runtime_error(to_string(loop.error()));
  return std::move(loop->problem);
}

/// The schedule as assertions about the text's variables.
std::string pinned(const Problem& problem, const Schedule& schedule) {
  std::string text;
  for (std::size_t v = 0; v < problem.ops().size(); ++v) {
    const problem::Op& op = problem.ops()[v];
    const schedule::Placement& at = schedule.ops[v];
    const problem::OpId id(v);
    if (!at.exists) continue;
    text += fmt::format("(assert (= stage!{} {}))(assert (= slot!{} {}))\n", op.name,
                        stage_of(schedule, id), op.name, slot_of(schedule, id));
    text += fmt::format("(assert in!{}!{})\n", op.name, problem[at.group].name);
    if (op.alternatives.size() == 1) continue;
    text += fmt::format("(assert alternative!{}!{})\n", op.name,
                        op.alternatives[static_cast<std::size_t>(at.alternative)].name);
  }
  return text;
}

class BundledLoop : public testing::TestWithParam<std::string> {};

// Protects: the optimal schedule of every bundled loop is a model of the text at its II. Z3 refutes
// the text at one cycle less.
TEST_P(BundledLoop, AgreesWithZ3) {
  const Problem problem = bundled(GetParam());
  const Answer answer = solve::solve(problem);
  ASSERT_EQ(answer.verdict, Verdict::optimal);
  const Cycles ii = answer.schedule->initiation_interval;
  EXPECT_EQ(z3_answer(smtlib(problem, ii), pinned(problem, *answer.schedule)), true);
  Schedule early = *answer.schedule;  // also, a schedule that breaks a rule is no model
  for (auto& at : early.ops) at.issue = 0;
  EXPECT_EQ(z3_answer(smtlib(problem, ii), pinned(problem, early)), false);
  EXPECT_EQ(z3_answer(smtlib(problem, ii - 1), "", 2'000'000'000), false);
}

INSTANTIATE_TEST_SUITE_P(All, BundledLoop,
                         testing::Values("bwd_b1", "bwd_b2", "bwd_b2_2wg", "bwd_h1", "bwd_h2",
                                         "fig1", "fwd_b1", "fwd_b2", "fwd_b2_2wg", "fwd_h1",
                                         "fwd_h1big", "fwd_h2", "gemm",
                                         "transfers/bwd_b2_transfers", "transfers/fwd_b2_transfers",
                                         "transfers/fwd_h2_transfers", "meta_bwd", "meta_fwd",
                                         "meta_fwdsub"),
                         [](const auto& it) { return it.param.substr(it.param.rfind('/') + 1); });

/// Counts of a comparison.
struct Compared {
  int infeasible = 0;
  int above_bound = 0;
  int crossing = 0;  ///< schedules with a transfer
  int asked = 0;
  int unknown = 0;
};

bool transfers_values(const Problem& problem, const Schedule& schedule) {
  return std::any_of(problem.transfers().begin(), problem.transfers().end(),
                     [&](const auto& it) { return schedule.ops[it.store.index()].exists; });
}

/// Compares the engine's least II with Z3's verdicts.
void compare(const Problem& problem, Compared& compared) {
  const Answer answer = solve::solve(problem);
  const auto expect = [&](Cycles ii, bool feasible) {
    const std::optional<bool> z3 = z3_answer(smtlib(problem, ii));
    EXPECT_NE(z3, !feasible) << ii;
    ++(z3 ? compared.asked : compared.unknown);
  };
  if (answer.verdict == Verdict::infeasible) {
    ++compared.infeasible;
    for (const Cycles ii : {2, 7, 40}) expect(ii, false);
    return;
  }
  ASSERT_EQ(answer.verdict, Verdict::optimal);
  if (answer.lower_bound.kind == schedule::BoundKind::search) ++compared.above_bound;
  if (transfers_values(problem, *answer.schedule)) ++compared.crossing;
  const Cycles ii = answer.schedule->initiation_interval;
  EXPECT_EQ(z3_answer(smtlib(problem, ii), pinned(problem, *answer.schedule)), true);
  expect(ii + 1, true);  // the stretch lemma
  if (ii > 1) expect(ii - 1, false);
}

solve_test::Size size_of(int round) {
  solve_test::Size size;
  size.ops = 2 + round % 5;
  size.groups = 1 + round % 3;
  size.alternatives = 1 + round % 2;
  return size;
}

void print(const Compared& compared, int loops) {
  std::printf(
      "smtlib: Z3 agrees with the engine on %d questions about %d loops, does not know %d\n",
      compared.asked, loops, compared.unknown);
}

// Protects: engine and Z3 agree on the least II of random tiny problems, with every rule,
// alternatives and relaxations, and on infeasible ones.
TEST(Smtlib, AgreesWithTheEngineOnRandomProblems) {
  std::mt19937 random(11);
  Compared compared;
  for (int round = 0; round < solve_test::rounds(400); ++round) {
    Problem problem = solve_test::random_problem(random, size_of(round));
    std::mt19937 own(static_cast<unsigned>(round));
    if (round % 4 == 2) problem = solve_test::with_register_budget(own, problem);
    if (round % 4 == 1) problem = solve_test::with_tight_memory(own, problem);
    SCOPED_TRACE(
        fmt::format("round {}\n{}", round, schedule::print_loop(schedule::loop_text_of(problem))));
    compare(problem, compared);
  }
  EXPECT_GT(compared.infeasible, 20);
  EXPECT_GT(compared.above_bound, 40);
  print(compared, solve_test::rounds(400));
  EXPECT_LT(compared.unknown, solve_test::rounds(10));
}

// Protects: the same for problems with transfers, whose ops exist depending on the groups.
TEST(Smtlib, AgreesWithTheEngineOnTransfers) {
  std::mt19937 random(12);
  Compared compared;
  for (int round = 0; round < solve_test::rounds(200); ++round) {
    const Problem problem = solve_test::for_length(
        solve_test::with_transfer_ops(random, solve_test::random_problem(random, size_of(round))));
    SCOPED_TRACE(
        fmt::format("round {}\n{}", round, schedule::print_loop(schedule::loop_text_of(problem))));
    compare(problem, compared);
  }
  EXPECT_GT(compared.infeasible, 20);
  EXPECT_GT(compared.above_bound, 20);
  EXPECT_GT(compared.crossing, 10);
  print(compared, solve_test::rounds(200));
  EXPECT_LT(compared.unknown, solve_test::rounds(10));
}

// Protects: the text is a function of the problem alone.
TEST(Smtlib, IsTheSameEveryTime) {
  EXPECT_EQ(smtlib(bundled("fwd_b2"), 2064), smtlib(bundled("fwd_b2"), 2064));
}

}  // namespace
}  // namespace twill::emit
