#include "twill/solve/clause_transfer.h"

#include <algorithm>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "solve/random_problem.h"
#include "solve/solve_text.h"
#include "twill/solve/encode.h"
#include "twill/solve/recheck.h"

namespace twill::solve {
namespace {

using problem::Problem;
using solve_test::bundled;
using solve_test::random_problem;

constexpr std::size_t kMemory = std::size_t{1} << 30;
constexpr std::int64_t kCopies = 32;

/// Questions about one problem, which has one alternative per op.
class Questions {
 public:
  explicit Questions(const Problem& problem)
      : instance_(instance_of(problem)), sub_tiles_(find_sub_tiles(problem)) {}

  struct Answer {
    Outcome outcome = Outcome::stopped;
    std::uint64_t conflicts = 0;
    ClauseTransfer learned;  ///< transferred clauses, and more
  };

  Answer ask(Cycles ii, const ClauseTransfer& taught) {
    Encoding encoding(instance_, sub_tiles_, ii, kCopies, kMemory, nullptr, "");
    encoding.follow(taught);
    Budget budget(~std::uint64_t{0}, kMemory);
    Answer answer;
    answer.outcome = encoding.solve(kTrue, budget, {});
    answer.conflicts = budget.conflicts();
    answer.learned = encoding.clause_transfer();
    if (answer.outcome == Outcome::satisfied) {
      EXPECT_TRUE(keeps_order(instance_, encoding.schedule())) << "at " << ii;
    }
    return answer;
  }

  Cycles load() const { return load_bound(instance_); }

 private:
  Instance instance_;
  SubTiles sub_tiles_;
};

// Protects: clauses learned at an II, and at all larger ones before, exclude no schedule at a
// smaller II. With these clauses the least II is found, and no smaller one. The search refutes
// where it can, so a clause that is false at the smaller II turns a yes into a no.
TEST(ClauseTransfer, HoldAtSmallerIntervals) {
  std::mt19937 random(77);
  std::size_t taught = 0;
  for (int round = 0; round < 300; ++round) {
    const Problem problem = random_problem(random, {.ops = 5 + round % 5, .groups = 1 + round % 3});
    SCOPED_TRACE("round " + std::to_string(round) + "\n" +
                 schedule::print_loop(schedule::loop_text_of(problem)));
    const Cycles least = solve_test::optimal_interval(problem);
    if (least <= 0) continue;
    Questions questions(problem);
    ClauseTransfer learned;
    for (Cycles ii = least + 3 + round % 4; ii >= std::max(least - 1, questions.load()); --ii) {
      taught += learned.clauses.size();
      const auto answer = questions.ask(ii, learned);
      ASSERT_EQ(answer.outcome, ii >= least ? Outcome::satisfied : Outcome::refuted) << "II " << ii;
      learned = answer.learned;
    }
  }
  EXPECT_GT(taught, 1000U) << "nothing was handed on";
}

// Protects the same where searches are longer, with the clauses of one II transferred to several
// others.
TEST(ClauseTransfer, HoldInBundledLoops) {
  for (const char* name : {"bwd_h2", "bwd_b1", "fwd_b2", "meta_bwd"}) {
    SCOPED_TRACE(name);
    const Problem problem = bundled(name);
    const Cycles least = solve_test::optimal_interval(problem);
    ASSERT_GT(least, 0);
    Questions questions(problem);
    ClauseTransfer learned;
    for (const Cycles ii : {least + least / 8, least + least / 50 + 1, least, least}) {
      const auto answer = questions.ask(ii, learned);
      EXPECT_EQ(answer.outcome, Outcome::satisfied) << "II " << ii;
      EXPECT_FALSE(answer.learned.clauses.empty());
      learned = answer.learned;
    }
    if (least == questions.load()) continue;
    EXPECT_EQ(questions.ask(least - 1, learned).outcome, Outcome::refuted);
  }
}

}  // namespace
}  // namespace twill::solve
