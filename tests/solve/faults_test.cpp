// Protects answers of searches that are ended anywhere: by the work limit, by the memory limit, by
// the caller, or for lack of memory. Such an answer claims less than the optimum, but nothing
// wrong. Searches are ended at random points, and their claims are compared with the true optimum.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <new>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "solve/failing_new.h"
#include "solve/random_problem.h"
#include "solve/rounds.h"
#include "solve/solve_text.h"

namespace twill::solve {
namespace {

using problem::Problem;
using schedule::Answer;
using schedule::Verdict;
using solve_test::allocations_left;
using solve_test::bundled;
using solve_test::rounds;
using solve_test::solve_checked;

/// Problem whose search may be ended, and its optimum.
struct Case {
  Problem problem;
  Answer best;
};

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const char* name : {"fwd_h1", "fwd_h2", "fwd_b1", "bwd_h1", "meta_fwd"}) {
    Problem problem = bundled(name);
    Answer best = solve_checked(problem);
    out.push_back({std::move(problem), std::move(best)});
  }
  std::mt19937 random(41);
  for (int round = 0; round < rounds(40); ++round) {
    Problem problem = solve_test::random_problem(
        random, {.ops = 6 + round % 6, .groups = 3, .cycles = 5, .alternatives = 1 + round % 2});
    Answer best = solve_checked(problem);
    // Skips problems with more combinations of alternatives than are tried: their optimum is
    // unknown.
    if (best.verdict == Verdict::feasible || best.verdict == Verdict::undecided) continue;
    out.push_back({std::move(problem), std::move(best)});
  }
  EXPECT_GT(out.size(), static_cast<std::size_t>(rounds(30)));
  return out;
}

struct Counts {
  int ended = 0;
  int undecided = 0;
  int with_gap = 0;
  int complete = 0;  ///< the limit came too late, or was not needed
};

/// Compares the claims of an ended search with the optimum. Its schedule was verified.
void expect_honest(const Case& it, const Answer& answer, Counts& counts) {
  const bool possible = it.best.schedule.has_value();
  ++counts.ended;
  ++(answer.verdict == Verdict::undecided  ? counts.undecided
     : answer.verdict == Verdict::feasible ? counts.with_gap
                                           : counts.complete);
  EXPECT_EQ(answer.schedule.has_value(),
            answer.verdict == Verdict::optimal || answer.verdict == Verdict::feasible);
  if (answer.verdict != Verdict::optimal) {
    EXPECT_FALSE(answer.argument.empty());
  }
  if (!possible) {
    EXPECT_FALSE(answer.schedule.has_value());
    return;
  }
  EXPECT_NE(answer.verdict, Verdict::infeasible);
  EXPECT_LE(answer.lower_bound.value, it.best.schedule->initiation_interval);
  if (!answer.schedule) return;
  ASSERT_EQ(answer.objectives.size(), it.best.objectives.size());
  EXPECT_EQ(answer.objectives[0].value, answer.schedule->initiation_interval);
  for (std::size_t i = 0; i < answer.objectives.size(); ++i) {
    const schedule::ObjectiveValue& said = answer.objectives[i];
    const std::int64_t best = it.best.objectives[i].value;
    EXPECT_LE(said.bound, best) << said.name;
    EXPECT_GE(said.value, best) << said.name;
    EXPECT_EQ(said.proven, said.bound == said.value) << said.name;
    if (answer.verdict == Verdict::optimal) {
      EXPECT_TRUE(said.proven) << said.name;
    }
    if (said.value != best) break;  // later levels are about other values of this level
  }
}

std::uint64_t below(std::mt19937& random, std::uint64_t end) {
  return random() % std::max<std::uint64_t>(end, 1);
}

/// Ends the search of every case `times` times, at points that `limit` chooses.
Counts end_searches(std::mt19937& random, int times,
                    const std::function<void(std::mt19937&, const Case&, Options&)>& limit) {
  Counts counts;
  const std::vector<Case> all = cases();
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (int time = 0; time < times; ++time) {
      Options options;
      limit(random, all[i], options);
      SCOPED_TRACE("case " + std::to_string(i) + ", time " + std::to_string(time) +
                   ", work limit " + std::to_string(options.work_limit) + ", memory limit " +
                   std::to_string(options.memory_limit) + "\n" +
                   schedule::print_loop(schedule::loop_text_of(all[i].problem)));
      expect_honest(all[i], solve_checked(all[i].problem, options), counts);
    }
  }
  return counts;
}

void report(const char* what, const Counts& counts) {
  std::printf("faults: %s: %d searches ended: %d undecided, %d with a gap, %d complete\n", what,
              counts.ended, counts.undecided, counts.with_gap, counts.complete);
  EXPECT_GT(counts.undecided, 20);
  EXPECT_GT(counts.with_gap, 5);
}

// Protects: the work limit, wherever it is reached.
TEST(Faults, WorkLimitIsNeverWrong) {
  std::mt19937 random(42);
  report("work", end_searches(random, 6, [](std::mt19937& draw, const Case& it, Options& options) {
           options.work_limit = 1 + below(draw, it.best.work);
         }));
}

// Protects the memory limit, from a limit too small for the encoding upwards.
TEST(Faults, MemoryLimitIsNeverWrong) {
  std::mt19937 random(43);
  report("memory", end_searches(random, 6, [](std::mt19937& draw, const Case&, Options& options) {
           options.memory_limit = std::size_t{1} << (8 + below(draw, 14));
           options.memory_limit += below(draw, options.memory_limit);
         }));
}

// Protects: a caller may stop at any call of its callback, and no bound reported until then was
// wrong.
TEST(Faults, CancellationIsNeverWrong) {
  std::mt19937 random(44);
  std::int64_t left = 0;
  Cycles optimum = 0;
  int told = 0;
  const Counts counts =
      end_searches(random, 6, [&](std::mt19937& draw, const Case& it, Options& options) {
        left = static_cast<std::int64_t>(below(draw, 2 + it.best.conflicts / 500)) + 1;
        left = std::min<std::int64_t>(left, 1 + static_cast<std::int64_t>(below(draw, 12)));
        optimum = it.best.schedule ? it.best.schedule->initiation_interval : 0;
        const bool one_way =
            std::all_of(it.problem.ops().begin(), it.problem.ops().end(),
                        [](const auto& op) { return op.alternatives.size() == 1; });
        options.progress = [&, one_way](const Progress& progress) {
          if (progress.level != "initiation_interval" || !one_way)
            return;  // one of several alternatives
          ++told;
          if (optimum > 0) {
            EXPECT_LE(progress.bound, optimum);
          }
          if (progress.value) {
            EXPECT_GE(*progress.value, optimum);
          }
        };
        options.cancelled = [&left] { return --left == 0; };
      });
  report("cancelled", counts);
  EXPECT_GT(told, 100);
}

// Protects: an allocation that fails anywhere in the search is thrown on to the caller, or changes
// nothing. (The library sorts in place where it gets no buffer.) No trace of the failure changes
// the next answer.
TEST(Faults, FailedAllocationsAreThrownOn) {
  std::mt19937 random(45);
  int thrown = 0;
  int answered = 0;
  for (const char* name : {"fig1", "fwd_h1", "meta_fwd"}) {
    const Problem problem = bundled(name);
    allocations_left = INT64_MAX;
    const Answer best = solve(problem);
    const std::int64_t all = INT64_MAX - allocations_left;
    allocations_left = -1;
    for (int time = 0; time < rounds(60); ++time) {
      const auto at =
          static_cast<std::int64_t>(below(random, static_cast<std::uint64_t>(all) * 11 / 10));
      allocations_left = at;
      try {
        const Answer answer = solve(problem);
        allocations_left = -1;
        ++answered;
        EXPECT_EQ(answer.schedule, best.schedule);
      } catch (const std::bad_alloc&) {
        allocations_left = -1;
        ++thrown;
      }
    }
    const Answer again = solve(problem);
    EXPECT_EQ(again.schedule, best.schedule);
    EXPECT_EQ(again.work, best.work);
  }
  std::printf("faults: allocations: %d ended a search, %d were done without\n", thrown, answered);
  EXPECT_GT(thrown, 120);
}

}  // namespace
}  // namespace twill::solve
