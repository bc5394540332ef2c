// Protects laws of changes: the rules alone limit how a change of a loop may change its optimum.
// Random loops are changed, and the search has to agree with these laws. Each test prints how many
// loops and changes it saw.

#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "solve/random_problem.h"
#include "solve/rounds.h"
#include "solve/solve_text.h"
#include "twill/problem/compute_groups.h"
#include "twill/problem/problem.h"

namespace twill::solve {
namespace {

using namespace problem;
using schedule::Answer;
using schedule::Verdict;
using solve_test::pick;
using solve_test::random_problem;
using solve_test::rounds;
using solve_test::solve_checked;
using solve_test::text_of;

constexpr Cycles kNever = std::numeric_limits<Cycles>::max();

/// Finds the optimal II; kNever for a loop without a schedule.
Cycles least_interval(const Problem& problem) {
  const Cycles ii = solve_test::optimal_interval(problem);
  EXPECT_GE(ii, 0) << "not decided";
  return ii == 0 ? kNever : ii;
}

Problem posed(Parts parts) {
  Result<Problem> out = pose(std::move(parts));
  if (!out) ADD_FAILURE() << to_string(out.error());
  return *std::move(out);
}

template <class Things>
auto& any_of(std::mt19937& random, Things& things) {
  return things[random() % things.size()];
}

// ---- scaling ----

Parts scaled(Parts parts, Cycles by) {
  for (Op& op : parts.ops) {
    for (Alternative& alternative : op.alternatives) {
      alternative.occupancy *= by;
      alternative.latency *= by;
      alternative.issue *= by;
      for (PipeUse& use : alternative.pipes) use.demand *= by;
    }
  }
  for (Dependence& it : parts.dependences) {
    if (it.delay) *it.delay *= by;
    if (it.read_hold) *it.read_hold *= by;
    it.transfer *= by;
  }
  return parts;
}

/// Whether all rules only demand distances between issues, so that whole multiples of `by` can be
/// rounded down. False where an op that issues nothing may block: its issue comes strictly before
/// the next issue window.
bool rounds_down(const Problem& problem) {
  if (!problem.in_force(Rule::blocking)) return true;
  if (!problem.in_force(Rule::one_stream)) return false;
  return std::all_of(problem.ops().begin(), problem.ops().end(), [](const Op& op) {
    return std::all_of(op.alternatives.begin(), op.alternatives.end(),
                       [](const Alternative& alternative) { return alternative.issue > 0; });
  });
}

// Protects: cycles have no absolute size. Every duration is k times as long (occupancies,
// latencies, issue times, demands, delays, holds, transfers). An II of I becomes one of at most k
// I, and of more than k (I - 1) where all rules are about distances (`rounds_down`). The result
// need not be k I: an II is a whole number of cycles. A circuit of 3 cycles over 2 iterations has
// an II of 2, and of 3 where its costs are twice as long. At exactly k I, groups and crossings stay
// the same.
TEST(Laws, ScaledCostsScaleTheInterval) {
  std::mt19937 random(101);
  int loops = 0;
  int exact = 0;
  int below = 0;
  int above_bound = 0;
  for (int round = 0; round < rounds(500); ++round) {
    Problem problem =
        random_problem(random, {.ops = 3 + round % 5, .groups = 2, .alternatives = 1 + round % 2});
    if (round % 3 > 0) {  // most with both sides of the law
      Parts parts = problem.parts();
      std::erase(parts.relaxed, Rule::one_stream);
      for (Op& op : parts.ops) {
        for (Alternative& alternative : op.alternatives)
          alternative.issue = std::max<Cycles>(alternative.issue, 1);
      }
      problem = posed(std::move(parts));
    }
    const Cycles by = pick(random, 2, 5);
    SCOPED_TRACE("round " + std::to_string(round) + ", times " + std::to_string(by) + "\n" +
                 text_of(problem));
    const Answer answer = solve_checked(problem);
    const Answer times = solve_checked(posed(scaled(problem.parts(), by)));
    ++loops;
    if (rounds_down(problem)) {
      ASSERT_EQ(times.schedule.has_value(), answer.schedule.has_value());
    }
    if (!answer.schedule) continue;
    ASSERT_TRUE(times.schedule.has_value());
    const Cycles ii = answer.schedule->initiation_interval;
    const Cycles scaled_ii = times.schedule->initiation_interval;
    EXPECT_LE(scaled_ii, by * ii);
    if (!rounds_down(problem)) continue;
    EXPECT_GT(scaled_ii, by * (ii - 1));
    if (answer.lower_bound.kind == schedule::BoundKind::search) ++above_bound;
    ++(scaled_ii == by * ii ? exact : below);
    if (scaled_ii != by * ii) continue;
    for (std::size_t i = 1; i + 1 < answer.objectives.size();
         ++i) {  // except the length, which counts
      EXPECT_EQ(times.objectives[i].value,
                answer.objectives[i].value);  // ops without duration as 1
    }
  }
  std::printf("laws: scaling: %d loops; k times the II %d, less %d; II above every bound %d\n",
              loops, exact, below, above_bound);
  EXPECT_GT(exact, 100);
  EXPECT_GT(below, 0);
  EXPECT_GT(above_bound, 20);
}

// ---- one more demand, one more possibility ----

/// Changes `parts`; returns false if there is nothing to change.
struct Change {
  const char* name;
  std::function<bool(std::mt19937&, Parts&)> make;
};

bool add_dependence(std::mt19937& random, Parts& parts) {
  const int last = static_cast<int>(parts.ops.size()) - 1;
  const int from = pick(random, 0, last);
  const int to = pick(random, 0, last);
  Dependence it;
  it.from = OpId(static_cast<std::size_t>(from));
  it.to = OpId(static_cast<std::size_t>(to));
  it.distance = from < to ? pick(random, 0, 1) : pick(random, 1, 2);  // no circuit of distance 0
  if (pick(random, 0, 1) == 0) it.delay = pick(random, 0, 5);
  it.blocking = pick(random, 0, 2) == 0;
  it.carries_value = pick(random, 0, 1) == 0;
  it.transfer = pick(random, 0, 3);
  parts.dependences.push_back(it);
  return true;
}

bool tie_two_ops(std::mt19937& random, Parts& parts) {
  if (!parts.same_group.empty() || parts.ops.size() < 2) return false;
  const std::size_t first = random() % (parts.ops.size() - 1);
  const std::size_t second = first + 1 + random() % (parts.ops.size() - 1 - first);
  parts.same_group.push_back({OpId(first), OpId(second)});
  return true;
}

bool hold_longer(std::mt19937& random, Parts& parts) {
  Op& op = any_of(random, parts.ops);
  Alternative& alternative = any_of(random, op.alternatives);
  const int more = pick(random, 1, 3);
  switch (pick(random, 0, 3)) {
    case 0:
      alternative.latency += more;
      return true;
    case 1:
      alternative.issue += more;
      return true;
    case 2:
      alternative.occupancy += alternative.unit ? more : 0;
      return alternative.unit.has_value();
    default:
      op.registers += 1;
      return true;
  }
}

const std::vector<Change> kDemands = {
    {"a dependence", add_dependence},
    {"a longer cost", hold_longer},
    {"two ops tied to one group", tie_two_ops},
};

// Protects: one more demand never lowers the II.
TEST(Laws, OneMoreDemandNeverLowersTheInterval) {
  std::mt19937 random(102);
  for (const Change& change : kDemands) {
    int changed = 0;
    int slower = 0;
    for (int round = 0; round < rounds(350); ++round) {
      const Problem problem = random_problem(
          random, {.ops = 3 + round % 5, .groups = 2 + round % 2, .alternatives = 1 + round % 2});
      Parts parts = problem.parts();
      if (!change.make(random, parts)) continue;
      SCOPED_TRACE("round " + std::to_string(round) + ", " + change.name + "\n" + text_of(problem));
      const Cycles before = least_interval(problem);
      const Cycles after = least_interval(posed(std::move(parts)));
      EXPECT_GE(after, before);
      ++changed;
      if (after > before) ++slower;
    }
    std::printf("laws: %s: %d loops; slower %d\n", change.name, changed, slower);
    EXPECT_GT(changed, 100);
    EXPECT_GT(slower, 5);
  }
}

bool more_memory(std::mt19937& random, Parts& parts) {
  any_of(random, parts.memories).capacity += pick(random, 1, 4);
  return true;
}

bool more_registers(std::mt19937& random, Parts& parts) {
  any_of(random, parts.groups).registers += pick(random, 1, 4);
  return true;
}

/// Adds a group like one of the pool. `minimum-groups` may demand more groups than the pool has.
/// Then the new group is demanded, not only possible.
bool more_groups(std::mt19937& random, Parts& parts) {
  const auto computes = problem::compute_groups(parts);
  Group group = any_of(random, parts.groups);
  if (problem::is_compute_group(parts, group) && parts.minimum_compute_groups > computes)
    return false;
  group.name += "x";
  parts.groups.push_back(group);
  return true;
}

bool relax_a_rule(std::mt19937& random, Parts& parts) {
  const auto rule = static_cast<Rule>(pick(random, 0, kRuleCount - 1));
  if (std::count(parts.relaxed.begin(), parts.relaxed.end(), rule) > 0) return false;
  parts.relaxed.push_back(rule);
  std::sort(parts.relaxed.begin(), parts.relaxed.end());
  return true;
}

/// Adds an alternative on a unit of its own.
bool another_alternative(std::mt19937& random, Parts& parts) {
  Op& op = any_of(random, parts.ops);
  if (op.alternatives.size() == 1) op.alternatives[0].name = "first";
  Alternative alternative;
  alternative.name = "other";
  alternative.latency = pick(random, 0, 3);
  alternative.issue = pick(random, 0, 2);
  if (pick(random, 0, 1) == 0) {
    alternative.unit = UnitId(parts.units.size());
    alternative.occupancy = pick(random, 1, 3);
    parts.units.push_back({"C"});
  }
  op.alternatives.push_back(std::move(alternative));
  return true;
}

const std::vector<Change> kPossibilities = {
    {"more memory", more_memory},         {"more registers", more_registers},
    {"another group", more_groups},       {"a rule relaxed", relax_a_rule},
    {"another way", another_alternative},
};

// Protects: one more possibility never raises the II.
TEST(Laws, OneMorePossibilityNeverRaisesTheInterval) {
  std::mt19937 random(103);
  for (const Change& change : kPossibilities) {
    int changed = 0;
    int faster = 0;
    for (int round = 0; round < rounds(350); ++round) {
      const Problem problem = random_problem(
          random, {.ops = 3 + round % 5, .groups = 1 + round % 3, .alternatives = 1 + round % 2});
      Parts parts = problem.parts();
      if (!change.make(random, parts)) continue;
      SCOPED_TRACE("round " + std::to_string(round) + ", " + change.name + "\n" + text_of(problem));
      const Cycles before = least_interval(problem);
      const Cycles after = least_interval(posed(std::move(parts)));
      EXPECT_LE(after, before);
      ++changed;
      if (after < before) ++faster;
    }
    std::printf("laws: %s: %d loops; faster %d\n", change.name, changed, faster);
    EXPECT_GT(changed, 100);
    EXPECT_GT(faster, 2);
  }
}

}  // namespace
}  // namespace twill::solve
