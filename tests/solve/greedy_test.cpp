#include "twill/solve/greedy.h"

#include <regex>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "solve/solve_text.h"
#include "twill/solve/symmetry.h"
#include "twill/verify/verify.h"

// Protects the schedule of a loop too large for the search. It is found without search, obeys all
// rules, and is the fallback of an answer.
namespace twill::solve {
namespace {

using solve_test::bundled;

TEST(Greedy, SchedulesObeyAllRules) {
  int found = 0;
  for (const char* name : {"gemm", "fwd_h1", "fwd_h2", "fwd_b1", "fwd_b2", "fwd_b2_2wg", "bwd_h1",
                           "bwd_h2", "bwd_b1", "bwd_b2", "fig1", "meta_fwd", "meta_bwd"}) {
    const problem::Problem problem = bundled(name);
    bool one_way = true;
    for (const problem::Op& op : problem.ops()) one_way = one_way && op.alternatives.size() == 1;
    if (!one_way) continue;
    const auto schedule = greedy_schedule(instance_of(problem));
    if (!schedule) continue;
    ++found;
    EXPECT_TRUE(verify::verify(problem, *schedule).has_value()) << name;
  }
  EXPECT_GE(found, 8);
}

/// Makes `copies` independent chains load -> product -> exponential, each carried to itself.
std::string many(int copies) {
  std::string text =
      "loop many\nunit TMA\nunit TC\nunit MUFU\nmemory SMEM capacity 200000\n"
      "group L warps 1 registers 64 loads\ngroup A registers 200\ngroup B registers 200\n";
  std::string edges;
  for (int i = 0; i < copies; ++i) {
    const std::string n = std::to_string(i);
    text +=
        "op load" + n + " on TMA for 64 latency 500 warps 1 occupies SMEM 1024 async streaming\n";
    text += "op mma" + n + " on TC for 128 latency 160 registers 1 async\n";
    text += "op exp" + n + " on MUFU for 64 latency 90 registers 1\n";
    edges += "load" + n + " -> mma" + n + " blocking\nmma" + n + " -> exp" + n +
             " blocking transfer 50\nexp" + n + " -> mma" + n + " distance 1 transfer 50\n";
  }
  return text + edges;
}

TEST(Greedy, IsWhatALargeLoopBeginsWith) {
  const auto loop = schedule::parse_loop(many(60), "many.loop");
  ASSERT_TRUE(loop.has_value()) << to_string(loop.error());
  Options options;
  options.work_limit = 200'000;  // too little for the search
  const schedule::Answer answer = solve(loop->problem, options);
  ASSERT_TRUE(answer.schedule.has_value());
  EXPECT_TRUE(verify::verify(loop->problem, *answer.schedule).has_value());
  EXPECT_GE(answer.schedule->initiation_interval, 60 * 128);
  EXPECT_LE(answer.schedule->initiation_interval, 2 * 60 * 128);
}

// Protects loops in which groups with equal work have too few registers: then values that are
// carried most are kept apart. (Of 12 random loops of 300 ops, 7 had no answer.)
TEST(Greedy, KeepsCarriedValuesApart) {
  std::string text = "loop carried\nunit U\ngroup A registers 100\ngroup B registers 100\n";
  std::string edges;
  for (const auto& [name, cycles, registers] :
       {std::tuple("a", 10, 80), std::tuple("b", 30, 10), std::tuple("c", 10, 60)}) {
    text +=
        fmt::format("op {} on U for {} latency {} registers {}\n", name, cycles, cycles, registers);
    edges += fmt::format("{} -> {} distance 1\n", name, name);
  }
  const problem::Problem problem = solve_test::problem_of(text + edges);
  const auto schedule = greedy_schedule(instance_of(problem));
  ASSERT_TRUE(schedule);
  EXPECT_TRUE(verify::verify(problem, *schedule).has_value());
  EXPECT_NE(schedule->ops[0].group, schedule->ops[2].group);
}

/// Makes the bundled forward pass on Hopper with `count` sub-tiles, each with a warp group of its
/// own.
std::string sub_tiles(int count) {
  const std::string whole = solve_test::text_of("fwd_h1");
  std::istringstream lines(whole.substr(whole.find("\nloop ") + 1));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    const bool group = line.starts_with("group WG");
    if (group && !line.starts_with("group WG0")) continue;
    const bool of_tile = std::regex_search(line, std::regex("\\b[a-z]+A\\b"));
    for (int i = 0; i < (group || of_tile ? count : 1); ++i) {
      const std::string letter(1, static_cast<char>('A' + i));
      line = std::regex_replace(line, std::regex("WG\\d+"), "WG" + std::to_string(i));
      text += std::regex_replace(line, std::regex("\\b([a-z]+)A\\b"), "$1" + letter) + "\n";
    }
  }
  return text;
}

// Protects turns: eight, and thirteen sub-tiles (145 ops) fill the tensor core to the last cycle.
// Without turns the search needs about ten times the work, or finds no schedule.
TEST(InTurn, ManySubTilesFillAUnit) {
  for (const int count : {8, 13}) {
    const auto loop = schedule::parse_loop(sub_tiles(count), "sub_tiles.loop");
    ASSERT_TRUE(loop.has_value()) << to_string(loop.error());
    ASSERT_EQ(find_sub_tiles(loop->problem).ops.size(), count);
    Options options;
    options.work_limit = count == 8 ? 20'000'000 : 50'000'000;  // turns may take half
    const schedule::Answer answer = solve(loop->problem, options);
    ASSERT_TRUE(answer.schedule.has_value()) << answer.argument;
    EXPECT_EQ(answer.schedule->initiation_interval, count * 1024);
    EXPECT_EQ(answer.lower_bound.value, count * 1024);
  }
}

}  // namespace
}  // namespace twill::solve
