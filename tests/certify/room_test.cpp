// Certificates of claims about schedules that leave memory for their transfers.

#include <gmock/gmock.h>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "solve/random_problem.h"
#include "solve/rounds.h"
#include "solve/solve_text.h"
#include "twill/problem/problem.h"
#include "twill/prove/prove.h"
#include "twill/schedule/loop_text.h"

namespace twill::prove {
namespace {

using certify::Files;
using problem::Problem;

/// Makes a certificate of the best schedule, and of that bound on schedules with room.
Files files_with_room(const Problem& problem, Cycles bound) {
  auto proven = prove(problem, {});
  if (!proven) return {};
  Written written{std::move(proven->certificate), {}, true};
  const auto more = with_room(std::move(written), bound, {});
  EXPECT_TRUE(more) << more.error();
  if (!more) return {};
  EXPECT_TRUE(more->complete);
  return certify::print_certificate(more->certificate);
}

Files replaced(Files files, const std::string& file, const std::string& from,
               const std::string& to) {
  std::string& text = files.at(file);
  EXPECT_NE(text.find(from), std::string::npos) << text;
  text.replace(text.find(from), from.size(), to);
  return files;
}

std::string objection_against(const Files& files) {
  const auto result = certify::check_files(files);
  if (!result) return to_string(result.error());
  return result->rejection ? result->rejection->reason : "";
}

schedule::Answer with_room_solved(const Problem& problem) {
  solve::Options options;
  options.room_for_staging = true;
  return solve::solve(problem, options);
}

// Protects: the bound on buildable schedules is checked and called by its name; its proof serves no
// other claim.
TEST(WithRoom, OfTheBackwardPass) {
  const Files files = files_with_room(solve_test::bundled("bwd_b1"), 4328);
  const auto accepted = certify::check_files(files);
  ASSERT_TRUE(accepted && !accepted->rejection);
  EXPECT_EQ(accepted->interval_bound, 2802);
  EXPECT_EQ(accepted->bound_with_room, 4328);
  EXPECT_THAT(accepted->lines, testing::Contains(testing::HasSubstr("with room  at least 4328")));
  const std::string claim = "with-room interval 4328";
  EXPECT_EQ(objection_against(replaced(files, "claims", claim, "with-room interval 4329")),
            "the proof is about an interval of 4327, the claim needs 4328");
  EXPECT_NE(objection_against(replaced(files, "with-room.proof", "with-room\n", "")), "");
  EXPECT_EQ(
      objection_against(replaced(files, "claims", "at-least interval 2802 proof interval.proof",
                                 "at-least interval 4328 proof with-room.proof")),
      "the proof is about schedules with room only, the claim about all");
  EXPECT_NE(objection_against(
                replaced(files, "claims", claim + " proof with-room.proof", claim + " trivial")),
            "");
}

// Protects: there is no claim about room where no value waits in a memory.
TEST(WithRoom, NeedsAMemory) {
  const Problem problem = solve_test::problem_of("loop x\nunit U\ngroup G\nop a on U for 3\n");
  const auto proven = prove(problem, {});
  ASSERT_TRUE(proven) << proven.error();
  Files files = certify::print_certificate(proven->certificate);
  files["with-room.proof"] =
      "twill-proof 1\ninterval 2\nanchor a\nwith-room\nrefute everything\nend\n";
  files = replaced(files, "claims", "end\n", "with-room interval 3 proof with-room.proof\nend\n");
  EXPECT_EQ(objection_against(files),
            "there is a claim about schedules with room, but no value waits in a memory here");
}

// Protects: claims on schedules with room are proven as far as the search refutes, and no further.
TEST(WithRoom, OfRandomProblems) {
  int more = 0;
  for (int seed = 0; seed < solve_test::rounds(400); ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const int alternatives = seed % 4 == 0 ? 2 : 1;
    problem::Parts parts = solve_test::random_problem(random, {5, 2, 3, alternatives}).parts();
    for (problem::Op& op : parts.ops) op.footprint.clear();
    parts.memories = {{"SMEM", 1 + static_cast<Amount>(random() % 2000)}};
    const Problem problem = *problem::pose(std::move(parts));
    if (!problem.in_force(problem::Rule::memory)) continue;
    const schedule::Answer all = solve::solve(problem);
    const schedule::Answer some = with_room_solved(problem);
    if (!all.schedule || !some.schedule) continue;
    const Cycles bound = some.schedule->initiation_interval;
    if (bound == all.schedule->initiation_interval) continue;
    const auto result = certify::check_files(files_with_room(problem, bound));
    ASSERT_TRUE(result) << to_string(result.error());
    ASSERT_FALSE(result->rejection) << result->rejection->reason;
    EXPECT_EQ(result->bound_with_room, bound)
        << schedule::print_loop(schedule::loop_text_of(problem));
    ++more;
  }
  EXPECT_GT(more, solve_test::rounds(400) / 80);
}

}  // namespace
}  // namespace twill::prove
