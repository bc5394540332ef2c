#include "twill/solve/alternatives.h"

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "solve/random_problem.h"
#include "solve/solve_text.h"
#include "twill/problem/transfer.h"
#include "twill/schedule/difference.h"
#include "twill/solve/symmetry.h"
#include "twill/verify/verify.h"

namespace twill::solve {
namespace {

using problem::OpId;
using problem::Problem;
using schedule::Answer;
using schedule::Schedule;
using schedule::Verdict;
using solve_test::bundled;
using solve_test::problem_of;
using solve_test::random_problem;
using solve_test::text_of;
using solve_test::with_transfer_ops;

AlternativeSchedules within(const Problem& problem, const Answer& first, Cycles most,
                            std::size_t count) {
  Options options;
  options.most_interval = most;
  return alternatives(problem, first, count, options);
}

/// Structure as schedule/difference.h defines it, computed naively: the alternatives, and the pairs
/// of ops that share a group, with the kind of every op's group. Also the round of every pair on
/// one unit. Ops that do not exist are left out.
using Structure = std::vector<std::int64_t>;
Structure structure_of(const Problem& problem, const Schedule& schedule) {
  Structure out;
  const auto group_of = [&](std::size_t op) { return problem[schedule.ops[op].group]; };
  const auto alternative_of = [&](std::size_t op) {
    return problem.ops()[op].alternatives[static_cast<std::size_t>(schedule.ops[op].alternative)];
  };
  const Cycles ii = schedule.initiation_interval;
  for (std::size_t a = 0; a < schedule.ops.size(); ++a) {
    if (!schedule.ops[a].exists) {
      out.push_back(-1);
      continue;
    }
    const problem::Group group = group_of(a);
    out.insert(out.end(),
               {schedule.ops[a].alternative, group.warps, group.registers, group.loads ? 1 : 0});
    for (std::size_t b = 0; b < a; ++b) {
      if (!schedule.ops[b].exists) continue;
      out.push_back(schedule.ops[a].group == schedule.ops[b].group ? 1 : 0);
      const bool unit = alternative_of(a).unit && alternative_of(a).unit == alternative_of(b).unit;
      const bool ahead = problem.ops()[a].streaming || problem.ops()[b].streaming;
      if (!unit || ahead || !problem.in_force(problem::Rule::unit)) continue;
      Cycles apart = schedule.ops[a].issue - schedule.ops[b].issue;
      std::int64_t round = 0;
      for (; apart < 0; apart += ii) --round;
      for (; apart >= ii; apart -= ii) ++round;
      out.push_back(round);
    }
  }
  return out;
}

/// Checks the properties of every list.
void expect_honest(const Problem& problem, const Answer& first, const AlternativeSchedules& found,
                   Cycles most) {
  std::set<Structure> seen = {structure_of(problem, *first.schedule)};
  std::vector<std::int64_t> before;
  for (const AlternativeSchedule& it : found.list) {
    EXPECT_TRUE(verify::verify(problem, it.schedule).has_value());
    EXPECT_LE(it.schedule.initiation_interval, most);
    EXPECT_TRUE(seen.insert(structure_of(problem, it.schedule)).second) << "a structure again";
    EXPECT_TRUE(it.proven);
    std::vector<std::int64_t> values;
    for (const auto& level : it.objectives) values.push_back(level.value);
    EXPECT_LE(before, values) << "not in order";
    before = values;
  }
}

/// Finds the least II by structure, over all schedules of at most this II that begin at cycle 0 and
/// whose issue cycles are below `horizon`.
std::map<Structure, Cycles> try_everything(const Problem& problem, Cycles most, Cycles horizon) {
  std::map<Structure, Cycles> found;
  Schedule schedule;
  schedule.ops.resize(problem.ops().size());
  const auto transfer_ops = problem::transfer_ops_of(problem);
  const std::function<void(std::size_t, bool)> place = [&](std::size_t op, bool at_zero) {
    if (op == schedule.ops.size()) {
      if (!at_zero) return;
      Structure structure = structure_of(problem, schedule);
      if (found.count(structure) > 0 || !verify::verify(problem, schedule)) return;
      found.emplace(std::move(structure), schedule.initiation_interval);
      return;
    }
    if (transfer_ops[op]) {  // its home comes before it
      const schedule::Placement& home = schedule.ops[transfer_ops[op]->home.index()];
      const bool exists = problem::is_needed(*transfer_ops[op], schedule::groups_of(schedule));
      for (Cycles issue = 0; issue < (exists ? horizon : 1); ++issue) {
        schedule.ops[op] = {exists ? issue : home.issue, home.group, 0, exists};
        place(op + 1, at_zero || (exists && issue == 0));
      }
      return;
    }
    for (std::size_t alternative = 0; alternative < problem.ops()[op].alternatives.size();
         ++alternative) {
      for (std::size_t group = 0; group < problem.groups().size(); ++group) {
        for (Cycles issue = 0; issue < horizon; ++issue) {
          schedule.ops[op] = {issue, schedule::GroupId(group), static_cast<int>(alternative)};
          place(op + 1, at_zero || issue == 0);
        }
      }
    }
  };
  for (Cycles ii = 1; ii <= most; ++ii) {
    schedule.initiation_interval = ii;
    place(0, false);
  }
  return found;
}

/// Structures of the images of a schedule under exchanges of sub-tiles, its own included.
std::set<Structure> images(const Problem& problem, const Schedule& schedule) {
  std::set<Structure> seen = {structure_of(problem, schedule)};
  std::vector<Schedule> all = {schedule};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const Exchange& exchange : find_sub_tiles(problem).exchanges) {
      Schedule image = all[i];
      for (std::size_t op = 0; op < exchange.size(); ++op) {
        image.ops[exchange[op]] = all[i].ops[op];
      }
      if (seen.insert(structure_of(problem, image)).second) all.push_back(image);
    }
  }
  return seen;
}

/// Makes some loads of the problem run ahead.
Problem with_streams(const Problem& problem) {
  problem::Parts parts = problem.parts();
  for (std::size_t i = 0; i < parts.ops.size(); ++i) {
    const auto fed = [&](const problem::Dependence& it) { return it.to.index() == i; };
    const auto& all = parts.dependences;
    const bool free = std::none_of(all.begin(), all.end(), fed);
    parts.ops[i].streaming = parts.ops[i].variable_latency && free;
  }
  auto posed = problem::pose(std::move(parts));
  return posed ? *std::move(posed) : problem;
}

/// Counts of what a comparison compared.
struct ComparedLists {
  int complete = 0;    ///< lists proven complete
  int structures = 0;  ///< found by both, by enumeration and in the list
  int slower = 0;      ///< of these: with a larger II than the optimum
  int streams = 0;     ///< problems with an op that runs ahead
  int images = 0;      ///< of these: made from a listed structure by exchanges
  int handed = 0;      ///< alternatives in which a store exists
};

/// Collects the list and its images, by structure with the least II. Checks that no structure comes
/// twice.
std::map<Structure, Cycles> listed(const Problem& problem, const Answer& first,
                                   const AlternativeSchedules& found, ComparedLists& compared) {
  std::map<Structure, Cycles> all;
  const auto add = [&](const Schedule& schedule) {
    const std::set<Structure> structures = images(problem, schedule);
    compared.images += static_cast<int>(structures.size()) - 1;
    for (const Structure& it : structures) {
      EXPECT_TRUE(all.emplace(it, schedule.initiation_interval).second) << "an image";
    }
  };
  add(*first.schedule);
  for (const AlternativeSchedule& it : found.list) add(it.schedule);
  return all;
}

/// Compares the list up to one cycle above the optimum with every schedule below the horizon.
void compare(const Problem& problem, Cycles horizon, ComparedLists& compared) {
  const Answer first = solve(problem);
  if (!first.schedule || first.schedule->initiation_interval > 3) return;
  const Cycles most = first.schedule->initiation_interval + 1;
  const AlternativeSchedules found = within(problem, first, most, 60);
  expect_honest(problem, first, found, most);
  EXPECT_FALSE(found.stopped);
  const auto ops = problem.ops();
  compared.streams +=
      std::count_if(ops.begin(), ops.end(), [](auto& op) { return op.streaming; }) > 0;
  compared.complete += found.complete ? 1 : 0;
  for (const AlternativeSchedule& it : found.list) {
    for (const problem::Transfer& transfer : problem.transfers()) {
      compared.handed += it.schedule.ops[transfer.store.index()].exists ? 1 : 0;
    }
  }
  const auto all = listed(problem, first, found, compared);
  const auto tried = try_everything(problem, most, horizon);
  for (const auto& [structure, ii] : tried) {
    const auto at = all.find(structure);
    EXPECT_TRUE(at != all.end() || !found.complete) << "missed at II " << ii;
    if (at == all.end()) continue;
    EXPECT_LE(at->second, ii);
    ++compared.structures;
    compared.slower += ii > first.schedule->initiation_interval ? 1 : 0;
  }
  for (const AlternativeSchedule& it : found.list) {
    if (schedule::length_of(problem, it.schedule) > horizon) continue;
    const auto at = tried.find(structure_of(problem, it.schedule));
    ASSERT_NE(at, tried.end());
    EXPECT_EQ(at->second, it.schedule.initiation_interval);
  }
}

// Protects: the list has all structures within the distance and no others, each at its least II. An
// enumeration of every schedule below a horizon finds no other structure. It finds all listed
// structures whose schedules begin and end there.
TEST(AlternativeSchedules, AgreeWithTryingEverything) {
  std::mt19937 random(11);
  ComparedLists compared;
  for (int round = 0; round < 300; ++round) {
    solve_test::Size size;
    size.ops = 2 + round % 2;
    size.cycles = 2;
    size.alternatives = 1 + round % 4 / 3;
    const Problem problem = with_streams(random_problem(random, size));
    SCOPED_TRACE("round " + std::to_string(round) + "\n" + text_of(problem));
    compare(problem, 7, compared);
  }
  EXPECT_GT(compared.complete, 100);
  EXPECT_GT(compared.structures, 600);
  EXPECT_GT(compared.slower, 50);
  EXPECT_GT(compared.streams, 3);
}

// Protects the same for loops with transfers: in other groups other ops exist, and only existing
// ops are in an order on a unit.
TEST(AlternativeSchedules, OfTransfersAgreeWithTryingEverything) {
  std::mt19937 random(13);
  ComparedLists compared;
  for (int round = 0; round < 200; ++round) {
    const Problem problem = with_transfer_ops(
        random, random_problem(random, {.ops = 2 + round % 2, .groups = 2, .cycles = 2}));
    if (problem.transfers().empty() || problem.ops().size() > 5) continue;
    SCOPED_TRACE("round " + std::to_string(round) + "\n" + text_of(problem));
    compare(problem, 5, compared);
  }
  EXPECT_GT(compared.complete, 15);
  EXPECT_GT(compared.structures, 60);
  EXPECT_GT(compared.handed, 20);
}

/// Repeats the problem's ops and dependences `times` times, side by side on the same units.
Problem side_by_side(const Problem& problem, std::size_t times) {
  problem::Parts parts = problem.parts();
  parts.same_group.clear();
  const std::size_t ops = parts.ops.size();
  for (std::size_t copy = 1; copy < times; ++copy) {
    for (std::size_t i = 0; i < ops; ++i) {
      parts.ops.push_back(problem.ops()[i]);
      parts.ops.back().name += "_" + std::to_string(copy);
    }
    for (problem::Dependence it : problem.dependences()) {
      it.from = OpId(it.from.index() + copy * ops);
      it.to = OpId(it.to.index() + copy * ops);
      parts.dependences.push_back(it);
    }
  }
  auto posed = problem::pose(std::move(parts));
  if (!posed) ADD_FAILURE() << to_string(posed.error());
  return *std::move(posed);
}

// Protects: images of a schedule under exchanges of interchangeable sub-tiles are not listed, and
// hide no other structure.
TEST(AlternativeSchedules, ImagesOfSubTilesAreNotListed) {
  std::mt19937 random(12);
  ComparedLists compared;
  for (int round = 0; round < 60; ++round) {
    const bool three = round % 2 == 0;
    solve_test::Size size;
    size.ops = three ? 1 : 2;
    size.cycles = 1;
    size.alternatives = 1 + round % 3 / 2;
    const Problem problem = side_by_side(random_problem(random, size), three ? 3 : 2);
    SCOPED_TRACE("round " + std::to_string(round) + "\n" + text_of(problem));
    compare(problem, three ? 6 : 4, compared);
  }
  EXPECT_GT(compared.images, 100);
  EXPECT_GT(compared.structures, 100);
}

/// Loop in which three ops take turns on a unit, `a` first in each iteration.
const char* const kTurns = R"(loop turns
unit TC
group WG0 registers 10
group WG1 registers 10
op a on TC for 1 latency 1
op b on TC for 1 latency 1
op c on TC for 1 latency 1 registers 1
same-group a b c
a -> b
a -> c
b -> a distance 1
c -> a distance 1
)";

// Protects the list for a loop with known structures: both groups get the same name, and the list
// is proven complete.
TEST(AlternativeSchedules, AllOfAKnownLoop) {
  const Problem problem = problem_of(kTurns);
  const Answer first = solve(problem);
  ASSERT_EQ(first.schedule->initiation_interval, 3);
  const AlternativeSchedules found = within(problem, first, 3, 10);
  EXPECT_TRUE(found.complete);
  EXPECT_FALSE(found.stopped);
  ASSERT_EQ(found.list.size(), 1U);
  const auto differences = schedule::differences(problem, found.list[0].schedule, *first.schedule);
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_EQ(differences[0].kind, schedule::Difference::Kind::order);
  EXPECT_EQ(problem[differences[0].op].name, "b");
  EXPECT_EQ(problem[differences[0].other].name, "c");
  EXPECT_EQ(differences[0].is + differences[0].was, -1);
}

// Protects: a list that ends at the requested count does not claim to be complete.
TEST(AlternativeSchedules, TheCountEndsTheList) {
  const Problem problem = problem_of(kTurns);
  const AlternativeSchedules found = within(problem, solve(problem), 3, 1);
  EXPECT_EQ(found.list.size(), 1U);
  EXPECT_FALSE(found.complete);
  EXPECT_FALSE(found.stopped);
}

// Protects: a limit is never taken for a proof.
TEST(AlternativeSchedules, TheWorkLimitIsSaid) {
  const Problem problem = bundled("fwd_h2");
  const Answer first = solve(problem);
  Options options;
  options.work_limit = 1;
  const AlternativeSchedules found = alternatives(problem, first, 3, options);
  EXPECT_TRUE(found.list.empty());
  EXPECT_TRUE(found.stopped);
  EXPECT_FALSE(found.complete);
}

// Protects: for attention loops, every alternative is right, new, in order and named like the
// optimum. A second list is equal, and a shorter list is its beginning.
TEST(AlternativeSchedules, OfAttention) {
  for (const char* name : {"fwd_h2", "fwd_b1", "fwd_b2"}) {
    SCOPED_TRACE(name);
    const Problem problem = bundled(name);
    const Answer first = solve(problem);
    ASSERT_EQ(first.verdict, Verdict::optimal);
    const Cycles most = first.schedule->initiation_interval * 21 / 20;
    const AlternativeSchedules found = within(problem, first, most, 6);
    expect_honest(problem, first, found, most);
    ASSERT_EQ(found.list.size(), 6U);
    const AlternativeSchedules fewer = within(problem, first, most, 3);
    ASSERT_EQ(fewer.list.size(), 3U);
    for (std::size_t i = 0; i < fewer.list.size(); ++i) {
      EXPECT_EQ(fewer.list[i].schedule, found.list[i].schedule);
    }
    for (const AlternativeSchedule& it : found.list) {
      EXPECT_EQ(schedule::aligned(problem, it.schedule, *first.schedule), it.schedule);
      std::set<Structure> all = images(problem, *first.schedule);
      EXPECT_EQ(all.count(structure_of(problem, it.schedule)), 0U) << "the optimum again";
    }
  }
}

}  // namespace
}  // namespace twill::solve
