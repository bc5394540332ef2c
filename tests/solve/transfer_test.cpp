// Protects transfers (problem/transfer.h): a value changes groups by a store and loads, which exist
// exactly if it does. The search decides on groups and transfers at once. The test tries every
// choice of groups, one after the other, and solves its residual problem. The best of these has to
// be the search's answer. Certificates of all verdicts are checked.

#include "twill/problem/transfer.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "solve/random_problem.h"
#include "solve/solve_text.h"
#include "twill/certify/certificate.h"
#include "twill/prove/prove.h"
#include "twill/solve/decide.h"
#include "twill/verify/verify.h"

namespace twill::solve {
namespace {

using problem::GroupId;
using problem::OpId;
using problem::Parts;
using problem::Problem;
using problem::Rule;
using problem::Transfer;
using schedule::Answer;
using schedule::Verdict;
using solve_test::pick;
using solve_test::problem_of;
using solve_test::random_problem;
using solve_test::solve_checked;
using solve_test::text_of;
using solve_test::with_transfer_ops;

/// Makes the problem that a choice of groups leaves, in which every op can only be in its group.
/// Empty if the choice itself breaks a rule.
std::optional<Problem> pinned(const Problem& problem, const std::vector<GroupId>& groups) {
  const auto transfer_ops = problem::transfer_ops_of(problem);
  std::set<GroupId> used;
  std::int64_t pool = 0;
  std::int64_t computes = 0;
  int widest = 0;
  for (const problem::Group& it : problem.groups())
    widest = std::max(widest, it.loads ? 0 : it.warps);
  for (const problem::Group& it : problem.groups()) pool += !it.loads && it.warps == widest ? 1 : 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const problem::Op& op = problem.ops()[i];
    const problem::Group& group = problem[groups[i]];
    if (problem.in_force(Rule::width) && op.warps != group.warps) return std::nullopt;
    if (problem.in_force(Rule::load_group) && op.variable_latency != group.loads) {
      return std::nullopt;
    }
    if (!group.loads && group.warps == widest) used.insert(groups[i]);
    if (!transfer_ops[i] && !op.variable_latency && op.warps == widest) ++computes;
  }
  const auto least = std::min({std::int64_t{problem.minimum_compute_groups()}, pool, computes});
  if (static_cast<std::int64_t>(used.size()) < least) return std::nullopt;
  for (const std::vector<OpId>& set : problem.same_group()) {
    for (const OpId op : set) {
      if (groups[op.index()] != groups[set.front().index()]) return std::nullopt;
    }
  }
  const problem::Residual left = problem::residual_of(problem, groups);
  Parts parts = left.problem.parts();
  for (std::size_t g = 0; g < parts.groups.size(); ++g) {
    parts.groups[g].warps = 100 + static_cast<int>(g);
  }
  for (std::size_t i = 0; i < parts.ops.size(); ++i) {
    parts.ops[i].warps = 100 + static_cast<int>(groups[left.ops[i].index()].index());
  }
  std::erase(parts.relaxed, Rule::width);
  std::erase(parts.relaxed, Rule::load_group);
  parts.relaxed.push_back(Rule::load_group);
  std::sort(parts.relaxed.begin(), parts.relaxed.end());
  parts.minimum_compute_groups = 0;
  parts.objectives = {problem::Objective::length};
  Result<Problem> posed = problem::pose(std::move(parts));
  if (!posed) ADD_FAILURE() << to_string(posed.error());
  return *std::move(posed);
}

std::int64_t crossings_of(const Problem& problem, const std::vector<GroupId>& groups) {
  std::set<std::pair<OpId, GroupId>> crossings;
  const auto transfer_ops = problem::transfer_ops_of(problem);
  for (const problem::Dependence& it : problem.dependences()) {
    const GroupId to = groups[it.to.index()];
    const bool crosses = it.carries_value && to != groups[it.from.index()];
    if (crosses && !transfer_ops[it.from.index()] && problem[it.from].registers > 0) {
      crossings.emplace(it.from, to);
    }
  }
  return static_cast<std::int64_t>(crossings.size());
}

using Values = std::vector<std::int64_t>;  ///< interval, groups, crossings, length

/// Finds the best over all choices of groups, each solved by itself; empty if there is none.
Values best_of_all(const Problem& problem) {
  const auto transfer_ops = problem::transfer_ops_of(problem);
  std::vector<std::size_t> ordinary;
  for (std::size_t i = 0; i < transfer_ops.size(); ++i) {
    if (!transfer_ops[i]) ordinary.push_back(i);
  }
  Values best;
  std::vector<GroupId> groups(transfer_ops.size());
  const std::function<void(std::size_t)> choose = [&](std::size_t next) {
    if (next < ordinary.size()) {
      for (std::size_t g = 0; g < problem.groups().size(); ++g) {
        groups[ordinary[next]] = GroupId(g);
        choose(next + 1);
      }
      return;
    }
    for (std::size_t i = 0; i < transfer_ops.size(); ++i) {
      if (transfer_ops[i]) groups[i] = groups[transfer_ops[i]->home.index()];
    }
    const std::optional<Problem> one = pinned(problem, groups);
    if (!one) return;
    const Answer answer = solve_checked(*one);
    if (!answer.schedule) return;
    std::set<GroupId> used;
    for (const std::size_t op : ordinary) used.insert(groups[op]);
    Values values = {answer.schedule->initiation_interval, static_cast<std::int64_t>(used.size()),
                     crossings_of(problem, groups), answer.objectives.back().value};
    if (best.empty() || values < best) best = std::move(values);
  };
  choose(0);
  return best;
}

Values values_of(const Answer& answer) {
  Values out;
  for (const schedule::ObjectiveValue& it : answer.objectives) out.push_back(it.value);
  return out;
}

TEST(Transfers, AreDecidedWithTheGroups) {
  int crossing = 0;
  int infeasible = 0;
  for (std::uint32_t seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    solve_test::Size size;
    size.ops = pick(random, 2, 4);
    size.groups = pick(random, 2, 3);
    Problem problem = with_transfer_ops(random, random_problem(random, size));
    if (seed % 6 == 0) problem = solve_test::with_register_budget(random, problem);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text_of(problem));
    const Answer answer = solve_checked(problem);
    const Values best = best_of_all(problem);
    EXPECT_EQ(values_of(answer), best);
    EXPECT_EQ(answer.verdict, best.empty() ? Verdict::infeasible : Verdict::optimal);
    if (best.empty()) ++infeasible;
    if (!answer.schedule) continue;
    for (const Transfer& it : problem.transfers()) {
      crossing += answer.schedule->ops[it.store.index()].exists ? 1 : 0;
    }
  }
  EXPECT_GT(crossing, 20);
  EXPECT_GT(infeasible, 5);
}

TEST(Transfers, AreCertified) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    solve_test::Size size;
    size.ops = pick(random, 3, 6);
    size.groups = pick(random, 2, 3);
    Problem problem = with_transfer_ops(random, random_problem(random, size));
    if (seed % 6 == 0) problem = solve_test::with_register_budget(random, problem);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text_of(problem));
    const auto proven = prove::prove(problem, {});
    ASSERT_TRUE(proven.has_value()) << proven.error();
    const auto checked = certify::check_files(certify::print_certificate(proven->certificate));
    ASSERT_TRUE(checked.has_value()) << to_string(checked.error());
    EXPECT_FALSE(checked->rejection.has_value()) << checked->rejection->reason;
  }
}

TEST(Transfers, AreFeasibleFromTheLeastIntervalOn) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    const Problem problem = with_transfer_ops(random, random_problem(random, {4, 2, 3, 1}));
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text_of(problem));
    const Answer answer = solve_checked(problem);
    if (!answer.schedule) continue;
    const Cycles least = answer.schedule->initiation_interval;
    for (Cycles ii = std::max<Cycles>(1, least - 2); ii < least + 5; ++ii) {
      EXPECT_EQ(decide(problem, ii, {}).decided == Decided::feasible, ii >= least) << ii;
    }
  }
}

// Protects feasibility with a pipe that only a store uses: 1000 cycles, where all else takes 8.
// Once an interval of 8 was taken to decide.
TEST(Transfers, AStoreMayBeWhatTakesLongest) {
  const Problem problem = solve_test::problem_of(R"(loop long_store
minimum-compute-groups 2
pipe P
memory M capacity 1
group A registers 8
group B registers 8
op a latency 1 issue 1 registers 1
op b latency 1 issue 1 registers 1
op b2 latency 1 issue 1 registers 1
op c issue 1
op sa issue 1 latency 1 occupies M 100
op la issue 1 latency 1 registers 1
op sb issue 1 latency 1 uses P 1000
op lb issue 1 latency 1 registers 1
a -> b
b -> b2
b -> c
b2 -> c
same-group b b2
hand-off a store sa load la for b
hand-off b store sb load lb for c
)");
  const Answer answer = solve_checked(problem);
  ASSERT_TRUE(answer.schedule.has_value()) << answer.argument;
  EXPECT_EQ(answer.schedule->initiation_interval, 1000);
  EXPECT_EQ(answer.verdict, schedule::Verdict::optimal);
}

TEST(Transfers, GoThroughTheText) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const Problem problem = with_transfer_ops(random, random_problem(random, {5, 2, 3, 1}));
    const std::string text = text_of(problem);
    auto read = schedule::parse_loop(text, "test.loop");
    ASSERT_TRUE(read.has_value()) << to_string(read.error());
    EXPECT_EQ(read->problem, problem);
    EXPECT_EQ(schedule::print_loop(*read), text);
    const Answer answer = solve_checked(problem);
    if (!answer.schedule) continue;
    const std::string placed =
        schedule::print_loop(schedule::loop_text_of(problem, answer.schedule));
    read = schedule::parse_loop(placed, "test.loop");
    ASSERT_TRUE(read.has_value()) << to_string(read.error());
    EXPECT_EQ(*read->schedule, *answer.schedule) << placed;
  }
}

}  // namespace
}  // namespace twill::solve
