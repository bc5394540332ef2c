#include <algorithm>
#include <cstdio>
#include <random>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "solve/proof_checker.h"
#include "solve/random_problem.h"
#include "solve/rounds.h"
#include "solve/solve_text.h"
#include "twill/problem/problem.h"
#include "twill/schedule/analysis.h"
#include "twill/solve/encode.h"
#include "twill/solve/instance.h"
#include "twill/solve/place.h"
#include "twill/solve/proof.h"
#include "twill/solve/recheck.h"
#include "twill/solve/structure.h"
#include "twill/solve/symmetry.h"

namespace twill::solve {
namespace {

using problem::Problem;
using schedule::Answer;
using schedule::Verdict;
using solve_test::bundled;
using solve_test::random_problem;
using solve_test::rounds;
using solve_test::Size;
using solve_test::solve_checked;

std::string trace(int round, const Problem& problem) {
  return "round " + std::to_string(round) + "\n" +
         schedule::print_loop(schedule::loop_text_of(problem));
}

/// Whether there is a schedule at one II, by a single search.
bool feasible_at(const Problem& problem, Cycles ii) {
  const Instance instance = instance_of(problem);
  if (ii < load_bound(instance)) return false;
  Budget budget(~std::uint64_t{0}, ~std::size_t{0});
  Encoding encoding(instance, find_sub_tiles(problem), ii, 1024, ~std::size_t{0}, nullptr, "",
                    true);
  return encoding.solve(kTrue, budget, {}) == Outcome::satisfied;
}

// Protects the stretch lemma, on which the search over II rests, and the decisive II, which shows
// whether there is a schedule at all.
TEST(Properties, FeasibilityIsMonotoneInInterval) {
  std::mt19937 random(21);
  int intervals = 0;
  for (int round = 0; round < rounds(300); ++round) {
    Problem problem = random_problem(random, {.ops = 3 + round % 4, .groups = 2});
    std::mt19937 own(static_cast<unsigned>(round));
    if (round % 3 == 1) problem = solve_test::with_tight_memory(own, problem);
    SCOPED_TRACE(trace(round, problem));
    bool before = false;
    for (Cycles ii = 1; ii <= 12; ++ii, ++intervals) {
      const bool now = feasible_at(problem, ii);
      EXPECT_TRUE(now || !before) << "feasible at " << ii - 1 << ", not at " << ii;
      before = now;
    }
    const bool anywhere = feasible_at(problem, decisive_interval(instance_of(problem)));
    EXPECT_TRUE(anywhere || !before);
    EXPECT_EQ(anywhere, feasible_at(problem, 1000));
  }
  std::printf(
      "properties: %d loops at %d intervals: none has a schedule at one and not at the next\n",
      rounds(300), intervals);
}

// Protects: a cut-off changes nothing as long as the optimum is within it. Beyond it, the only
// claim is that no schedule is within the cut-off.
TEST(Properties, CutOffHidesOnlyWhatIsBeyondIt) {
  std::mt19937 random(8);
  int within = 0;
  int beyond = 0;
  for (int round = 0; round < 200; ++round) {
    const Problem problem = random_problem(random, {.ops = 3 + round % 4, .groups = 2});
    SCOPED_TRACE(trace(round, problem));
    const Answer best = solve_checked(problem);
    for (const Cycles most : {1, 2, 4, 8}) {
      Options options;
      options.most_interval = most;
      const Answer answer = solve_checked(problem, options);
      if (best.schedule && best.schedule->initiation_interval <= most) {
        ++within;
        EXPECT_EQ(answer.verdict, best.verdict);
        ASSERT_TRUE(answer.schedule);
        for (std::size_t i = 0; i < best.objectives.size(); ++i) {
          EXPECT_EQ(answer.objectives[i].value, best.objectives[i].value);
        }
      } else {
        ++beyond;
        EXPECT_FALSE(answer.schedule);
        if (best.schedule) {
          EXPECT_EQ(answer.verdict, Verdict::undecided);
          EXPECT_GT(answer.lower_bound.value, most);
          EXPECT_LE(answer.lower_bound.value, best.schedule->initiation_interval);
        }
      }
    }
  }
  EXPECT_GT(within, 100);
  EXPECT_GT(beyond, 100);
}

// Protects: a schedule to start from is kept when a limit ends the search, and changes no optimum.
// A start that breaks a rule is ignored.
TEST(Properties, StartsFromASchedule) {
  std::mt19937 random(24);
  int kept = 0;
  for (int round = 0; round < rounds(100); ++round) {
    const Problem problem =
        random_problem(random, {.ops = 3 + round % 4, .groups = 2, .alternatives = 1 + round % 2});
    SCOPED_TRACE(trace(round, problem));
    const Answer best = solve_checked(problem);
    if (!best.schedule) continue;
    Options options;
    options.start = best.schedule;
    const Answer same = solve_checked(problem, options);
    EXPECT_EQ(same.verdict, best.verdict);
    for (std::size_t i = 0; i < best.objectives.size(); ++i) {
      EXPECT_EQ(same.objectives[i].value, best.objectives[i].value);
    }
    options.work_limit = 1;
    const Answer hasty = solve_checked(problem, options);
    if (hasty.schedule) {
      ++kept;
      EXPECT_EQ(hasty.schedule->initiation_interval, best.schedule->initiation_interval);
    }
    for (auto& placement : options.start->ops) placement.issue = 0;
    options.start->initiation_interval = 1;
    options.work_limit = Options().work_limit;
    EXPECT_EQ(solve_checked(problem, options).objectives.front().value,
              best.objectives.front().value);
  }
  EXPECT_GT(kept, 30);
}

// Protects: same input, same answer, same work.
TEST(Properties, Deterministic) {
  const auto expect_same = [](const Problem& problem) {
    const Answer one = solve_checked(problem);
    const Answer two = solve_checked(problem);
    EXPECT_EQ(one.schedule, two.schedule);
    EXPECT_EQ(one.work, two.work);
    EXPECT_EQ(one.conflicts, two.conflicts);
  };
  expect_same(bundled("fwd_b2"));
  std::mt19937 random(23);
  for (int round = 0; round < 40; ++round) {
    expect_same(random_problem(random, {.ops = 6, .groups = 3, .alternatives = 2}));
  }
}

// Protects: the answer does not depend on the order in which the ops are listed.
TEST(Properties, OrderOfOpsDoesNotMatter) {
  std::mt19937 random(25);
  const auto values = [](const Problem& problem) {
    std::vector<std::int64_t> out;
    for (const auto& level : solve_checked(problem).objectives) out.push_back(level.value);
    return out;
  };
  for (const std::string name : {"fwd_h2", "fwd_b1", "bwd_h1"}) {
    const Problem problem = bundled(name);
    EXPECT_EQ(values(problem), values(solve_test::shuffled(random, problem))) << name;
  }
  for (int round = 0; round < rounds(100); ++round) {
    const Problem problem =
        random_problem(random, {.ops = 5, .groups = 2, .alternatives = 1 + round % 2});
    SCOPED_TRACE(trace(round, problem));
    EXPECT_EQ(values(problem), values(solve_test::shuffled(random, problem)));
  }
  std::printf("properties: %d loops with their ops in another order\n", rounds(100));
}

// Protects: no claim is wrong under a limit: bounds stay below the optimum, values above it.
TEST(Properties, LimitsGiveHonestAnswers) {
  const Problem problem = bundled("bwd_b1");
  const Answer best = solve_checked(problem);
  ASSERT_EQ(best.verdict, Verdict::optimal);
  int undecided = 0;
  int feasible = 0;
  for (std::uint64_t limit = 1000; limit < best.work; limit += limit / 2) {
    Options options;
    options.work_limit = limit;
    const Answer answer = solve_checked(problem, options);
    EXPECT_LE(answer.lower_bound.value, best.schedule->initiation_interval);
    EXPECT_LE(answer.work, limit + 1'000'000);
    if (answer.verdict == Verdict::undecided) ++undecided;
    if (answer.verdict != Verdict::feasible) continue;
    ++feasible;
    EXPECT_NE(answer.argument.find("work limit"), std::string::npos);
    for (std::size_t i = 0; i < answer.objectives.size(); ++i) {
      const auto& level = answer.objectives[i];
      EXPECT_LE(level.bound, level.value);
      if (level.proven) {
        EXPECT_EQ(level.value, best.objectives[i].value);
      } else {
        break;  // later levels are about another value of this level
      }
    }
  }
  EXPECT_GT(undecided, 0);
  EXPECT_GT(feasible, 0);
}

// Protects: in a hurry, a level without progress is left open, honestly, and costs little more.
TEST(Properties, HurryLeavesOpenWhatNothingMoves) {
  const Problem problem = bundled("bwd_b2_2wg");
  Options options;
  options.hurry_after = options.work_limit;
  const Answer best = solve_checked(problem, options);
  ASSERT_EQ(best.verdict, Verdict::optimal);
  options.hurry_after = 0;
  const Answer hasty = solve_checked(problem, options);
  EXPECT_EQ(hasty.verdict, Verdict::feasible);
  EXPECT_NE(hasty.argument.find("larger work limit"), std::string::npos);
  EXPECT_LT(hasty.work, best.work / 2);
  bool known = true;  // values of the levels so far equal the optimum's
  for (std::size_t i = 0; known && i < best.objectives.size(); ++i) {
    EXPECT_LE(hasty.objectives[i].bound, best.objectives[i].value);
    EXPECT_GE(hasty.objectives[i].value, best.objectives[i].value);
    known = hasty.objectives[i].value == best.objectives[i].value;
  }
}

// Protects: "optimal" is claimed only if every level is proven, even if a level was given up before
// the limit as a whole was reached.
TEST(Properties, OptimalMeansEveryLevelIsProven) {
  for (const std::string name : {"bwd_b2_2wg", "fwd_b2", "meta_fwdsub"}) {
    const Problem problem = bundled(name);
    for (const std::uint64_t limit : {3'000'000U, 10'000'000U, 30'000'000U}) {
      Options options;
      options.work_limit = limit;
      const Answer answer = solve_checked(problem, options);
      const bool all_proven = std::all_of(answer.objectives.begin(), answer.objectives.end(),
                                          [](const auto& level) { return level.proven; });
      EXPECT_EQ(answer.verdict == Verdict::optimal, answer.schedule && all_proven) << name << limit;
      EXPECT_EQ(answer.verdict == Verdict::optimal, answer.argument.empty());
    }
  }
}

TEST(Properties, MemoryLimitAndCancellationEndTheSearch) {
  const Problem problem = bundled("fwd_b2");
  Options options;
  options.memory_limit = 100'000;
  Answer answer = solve_checked(problem, options);
  EXPECT_EQ(answer.verdict, Verdict::undecided);
  EXPECT_NE(answer.argument.find("memory limit"), std::string::npos);
  options = {};
  int calls = 0;
  options.progress = [&](const Progress& progress) {
    ++calls;
    EXPECT_GE(progress.value.value_or(progress.bound), progress.bound);
  };
  options.cancelled = [&] { return calls == 3; };
  answer = solve_checked(problem, options);
  EXPECT_EQ(calls, 3);
  EXPECT_NE(answer.verdict, Verdict::optimal);
}

// Protects: every refutation, with all rules mixed, against the independent checker.
TEST(Properties, ProofsOfRandomProblemsCheck) {
  std::mt19937 random(27);
  int refutations = 0;
  for (int round = 0; round < rounds(150); ++round) {
    const Problem problem =
        random_problem(random, {.ops = 4 + round % 5, .groups = 3, .cycles = 5});
    std::ostringstream text;
    TextProof proof(text);
    Options options;
    options.proof = &proof;
    solve_checked(problem, options);
    solve_test::ProofChecker checker;
    std::istringstream lines(text.str());
    ASSERT_EQ(checker.check(lines), "") << trace(round, problem);
    refutations += checker.refutations();
  }
  std::printf("properties: the proof checker accepts %d refutations of %d loops\n", refutations,
              rounds(150));
  EXPECT_GT(refutations, 150);
}

// Protects: solutions of the inequalities of a schedule's structure keep all rules, at the
// schedule's II and at the least II. They have the same offsets.
TEST(Properties, StructureKeepsTheRules) {
  std::mt19937 random(29);
  int tightened_further = 0;
  for (int round = 0; round < 200; ++round) {
    Problem problem = random_problem(random, {.ops = 6, .groups = 2, .cycles = 5});
    std::mt19937 own(static_cast<unsigned>(round));
    if (round % 2 == 1) problem = solve_test::with_tight_memory(own, problem);
    const Instance instance = instance_of(problem);
    Budget budget(~std::uint64_t{0}, ~std::size_t{0});
    const Cycles ii = decisive_interval(instance);
    Encoding encoding(instance, {}, ii, 64, ~std::size_t{0}, nullptr, "", true);
    if (encoding.solve(kTrue, budget, {}) != Outcome::satisfied) continue;
    SCOPED_TRACE(trace(round, problem));
    const schedule::Schedule loose = encoding.schedule();
    ASSERT_TRUE(verify::verify(problem, loose))
        << verify::verify(problem, loose).error()[0].message;
    const auto structure = structure_of(instance, loose);
    const auto least = least_interval(structure, instance.op_count(), load_bound(instance));
    ASSERT_TRUE(least && *least <= ii);
    if (*least < ii) ++tightened_further;
    for (const Cycles at : {*least, *least + 1, ii, ii + 7}) {
      const schedule::Schedule tight = tightened(loose, structure, at);
      const auto checked = verify::verify(problem, tight);
      EXPECT_TRUE(checked) << "II " << at << ": " << checked.error()[0].message;
    }
  }
  EXPECT_GT(tightened_further, 100);
}

/// Makes values that live at random cycles of an interval, and little more memory than they take at
/// once.
std::pair<Problem, schedule::Schedule> random_lives(std::mt19937& random) {
  const auto pick = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  problem::Parts parts;
  parts.name = "lives";
  parts.groups = {{"G"}};
  parts.memories = {{"M", 1000}};
  schedule::Schedule schedule{12, {}};
  const int count = pick(6, 8);
  for (int i = 0; i < 2 * count; ++i) {
    problem::Op op;
    op.name = "op" + std::to_string(i);
    op.alternatives.emplace_back();
    if (i % 2 == 0) op.footprint = {{problem::MemoryId(0), pick(1, 6)}};
    parts.ops.push_back(op);
    const Cycles before = i % 2 == 0 ? 0 : schedule.ops.back().issue;
    schedule.ops.push_back({i % 2 == 0 ? pick(0, 11) : before + pick(2, 9), {}, 0});
    if (i % 2 == 0) continue;
    problem::Dependence read;
    read.from = problem::OpId(parts.ops.size() - 2);
    read.to = problem::OpId(parts.ops.size() - 1);
    parts.dependences.push_back(read);
  }
  const Problem roomy = *problem::pose(parts);
  parts.memories.front().capacity = schedule::peak_memory(roomy, schedule)[0] + pick(0, 2);
  return {*problem::pose(parts), schedule};
}

// Protects: a schedule gets offsets exactly if there are any, as the checker finds out by itself.
// Also where placing the largest first fails.
TEST(Properties, OffsetsAreFoundWhereThereAreAny) {
  std::mt19937 random(31);
  int found = 0;
  int none = 0;
  for (int round = 0; round < rounds(3000); ++round) {
    const auto [problem, schedule] = random_lives(random);
    SCOPED_TRACE(trace(round, problem));
    const auto placed = with_addresses(instance_of(problem), schedule);
    const auto checked = verify::verify(problem, placed ? *placed : schedule);
    EXPECT_EQ(placed.has_value(), checked.has_value());
    ++(placed ? found : none);
  }
  std::printf("properties: offsets for %d schedules, none for %d\n", found, none);
  EXPECT_GT(found, rounds(500));
  EXPECT_GT(none, rounds(200));
}

TEST(Symmetry, FindsTheSubTilesOfTheBundledLoops) {
  for (const std::string name : {"fwd_h2", "fwd_b2", "bwd_h2", "bwd_b2"}) {
    const Problem problem = bundled(name);
    const SubTiles found = find_sub_tiles(problem);
    ASSERT_EQ(found.ops.size(), 2U) << name;
    ASSERT_EQ(found.exchanges.size(), 1U);
    EXPECT_TRUE(is_exchange(problem, found.exchanges[0]));
  }
  EXPECT_TRUE(find_sub_tiles(bundled("fwd_b1")).ops.empty());
}

// Protects: with one different number anywhere, the sub-tiles are no longer interchangeable.
TEST(Symmetry, RefusesWhatIsNotAlike) {
  const Problem problem = bundled("fwd_b2");
  const Exchange exchange = find_sub_tiles(problem).exchanges.at(0);
  problem::Parts parts = problem.parts();
  const std::size_t changed = find_sub_tiles(problem).ops[0];
  ++parts.ops[changed].alternatives[0].latency;
  EXPECT_FALSE(is_exchange(*problem::pose(parts), exchange));
  parts = problem.parts();
  parts.dependences.pop_back();
  EXPECT_FALSE(is_exchange(*problem::pose(parts), exchange));
}

}  // namespace
}  // namespace twill::solve
