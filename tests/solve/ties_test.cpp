#include "twill/solve/ties.h"

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "solve/random_problem.h"
#include "solve/solve_text.h"
#include "twill/schedule/bounds.h"
#include "twill/solve/search.h"
#include "twill/solve/structure.h"

namespace twill::solve {
namespace {

using problem::Problem;
using schedule::Schedule;
using solve_test::bundled;
using solve_test::problem_of;
using solve_test::random_problem;

/// Finds a schedule of the least II, every op as early as its structure allows; empty if there is
/// none.
std::optional<Schedule> tidy_schedule(const Problem& problem) {
  Budget budget(50'000'000, std::size_t{1} << 30);
  Candidates candidates = candidates_of(problem, find_sub_tiles(problem), 1);
  if (schedule::never_feasible(problem)) return std::nullopt;
  Search search(candidates.tried.front(), budget, nullptr, [](auto&&...) {});
  return search.find_interval(std::nullopt).schedule;
}

std::vector<Cycles> slacks(const std::vector<Wait>& waits, const Schedule& schedule) {
  std::vector<Cycles> out;
  for (const Wait& it : waits) {
    out.push_back(schedule.ops[it.to].issue - schedule.ops[it.from].issue - it.least);
  }
  return out;
}

Cycles least_of(const std::vector<Cycles>& values) {
  return values.empty() ? 0 : *std::min_element(values.begin(), values.end());
}

Cycles length_of(const Instance& instance, const Schedule& schedule) {
  return schedule::length_of(*instance.problem, schedule);
}

/// Calls `visit` with every solution of the structure that is no longer than `schedule`.
void for_each_solution(const Instance& instance, const Schedule& schedule,
                       const std::function<void(const Schedule&)>& visit) {
  const auto structure = structure_of(instance, schedule);
  const Cycles ii = schedule.initiation_interval;
  const Cycles length = length_of(instance, schedule);
  Schedule now = schedule;
  std::function<void(std::size_t)> place = [&](std::size_t op) {
    if (op == instance.op_count()) return visit(now);
    for (Cycles issue = 0; issue + instance.tasks[op].span <= length; ++issue) {
      now.ops[op].issue = issue;
      const bool fits = std::all_of(structure.begin(), structure.end(), [&](const Inequality& it) {
        if (std::max(it.from, it.to) != op) return true;  // incomplete, or checked before
        return now.ops[it.to].issue >= now.ops[it.from].issue + it.alpha + it.beta * ii;
      });
      if (fits) place(op + 1);
    }
  };
  place(0);
}

// Protects: of all solutions of a structure, tried one by one, none has a larger least slack. None
// that leaves every wait its slack has a smaller sum of lifetimes. Of solutions with the same sum
// none has an op earlier. II, groups, alternatives, length and all rules stay.
TEST(Ties, BestOfAllSolutions) {
  std::mt19937 random(5);
  int with_waits = 0;
  int without = 0;
  int more_slack = 0;
  int shorter = 0;
  for (int round = 0; round < 1200; ++round) {
    const Problem problem = random_problem(random, {.ops = 3 + round % 3, .groups = 2});
    SCOPED_TRACE(schedule::print_loop(schedule::loop_text_of(problem)));
    const auto before = tidy_schedule(problem);
    if (!before || length_of(instance_of(problem), *before) > 16) continue;
    const Instance instance = instance_of(problem);
    const Schedule after = settle_ties(instance, *before);
    EXPECT_EQ(after.initiation_interval, before->initiation_interval);
    EXPECT_EQ(length_of(instance, after), length_of(instance, *before));
    for (std::size_t op = 0; op < after.ops.size(); ++op) {
      EXPECT_EQ(after.ops[op].group, before->ops[op].group);
      EXPECT_EQ(after.ops[op].alternative, before->ops[op].alternative);
    }
    EXPECT_TRUE(verify::verify(problem, after));
    const std::vector<Wait> waits = waits_of(instance, *before);
    const std::vector<Cycles> room = slacks(waits, after);
    const Cycles lifetime = total_lifetime(instance, after);
    (waits.empty() ? without : with_waits) += 1;
    more_slack += least_of(room) > least_of(slacks(waits, *before));
    shorter += lifetime < total_lifetime(instance, *before);
    for_each_solution(instance, *before, [&](const Schedule& other) {
      const std::vector<Cycles> its_room = slacks(waits, other);
      ASSERT_LE(least_of(its_room), least_of(room));
      for (std::size_t i = 0; i < room.size(); ++i) {
        if (its_room[i] < room[i]) return;
      }
      const Cycles its_lifetime = total_lifetime(instance, other);
      ASSERT_GE(its_lifetime, lifetime);
      if (its_lifetime > lifetime) return;
      for (std::size_t op = 0; op < after.ops.size(); ++op) {
        ASSERT_GE(other.ops[op].issue, after.ops[op].issue);
      }
    });
  }
  EXPECT_GT(with_waits, 50);
  EXPECT_GT(without, 50);
  EXPECT_GT(more_slack, 5);
  EXPECT_GT(shorter, 20);
}

// Protects: a wait without any slack does not keep the others from theirs, and two waits that share
// a range share it evenly. The chain a, b, c sets the length; d and e come after a, anywhere before
// the end.
TEST(Ties, RoomIsSharedEvenly) {
  const Problem problem = problem_of(R"(loop t
relax one-stream
unit T
unit U
group G warps 4 registers 100
op a on T for 4 latency 4 issue 0
op b on T for 10 latency 10 issue 0
op c on T for 4 latency 4 issue 0
op d on U for 2 latency 2 issue 0 registers 1
op e on U for 2 latency 2 issue 0
a -> b blocking
b -> c blocking
a -> d blocking
d -> e blocking
)");
  const auto answer = solve_test::solve_checked(problem);
  ASSERT_TRUE(answer.schedule);
  const Instance instance = instance_of(problem);
  const Schedule& after = *answer.schedule;
  const Schedule early = tightened(after, structure_of(instance, after), after.initiation_interval);
  const auto of = [&](const Schedule& schedule) {
    return slacks(waits_of(instance, schedule), schedule);
  };
  EXPECT_EQ(of(early), (std::vector<Cycles>{0, 0, 0, 0}));
  // Slack by hand: the length is 18, d is issued in 4..14, e in d + 2..16. Of the 10 cycles to
  // share, each gets 5.
  EXPECT_EQ(length_of(instance, after), 18);
  EXPECT_EQ(of(after), (std::vector<Cycles>{0, 0, 5, 5}));
}

// Protects: where no wait is tight, values live as briefly as possible, and values that are used
// late are made late.
TEST(Ties, ValuesAreMadeWhenTheyAreNeeded) {
  const Problem problem = problem_of(R"(loop t
relax one-stream
unit T
unit U
group G warps 4 registers 100
op a on T for 4 latency 4
op b on T for 10 latency 10
op c on T for 4 latency 4
op d on U for 2 latency 2 registers 8
a -> b
b -> c
d -> c
)");
  const auto before = tidy_schedule(problem);
  ASSERT_TRUE(before);
  const Instance instance = instance_of(problem);
  const Schedule after = settle_ties(instance, *before);
  EXPECT_EQ(before->ops[3].issue, 0);
  EXPECT_EQ(after.ops[3].issue, 12);  // c is issued at 14
}

// Protects `solve`, which settles ties, on loops of real size. No objective changes, no wait has
// less slack than the tightest had, and settling again changes nothing.
TEST(Ties, BundledLoops) {
  int changed = 0;
  for (const char* name : {"fig1", "fwd_h1", "fwd_b1", "fwd_h2", "fwd_b2", "gemm", "meta_fwd"}) {
    SCOPED_TRACE(name);
    const Problem problem = bundled(name);
    const schedule::Answer answer = solve_test::solve_checked(problem);
    ASSERT_TRUE(answer.schedule);
    const Instance instance = instance_of(problem);
    const Schedule& after = *answer.schedule;
    const Schedule early =
        tightened(after, structure_of(instance, after), after.initiation_interval);
    EXPECT_EQ(length_of(instance, early), length_of(instance, after));
    EXPECT_EQ(settle_ties(instance, early), after);
    EXPECT_EQ(answer.objectives.back().value, length_of(instance, after));
    const std::vector<Wait> waits = waits_of(instance, after);
    EXPECT_GE(least_of(slacks(waits, after)), least_of(slacks(waits, early)));
    changed += !(early == after);
  }
  EXPECT_GE(changed, 3);
}

}  // namespace
}  // namespace twill::solve
