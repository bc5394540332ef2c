#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "solve/solve_text.h"

// Cases that each rule forbids and allows, and that relaxing the rule lifts it. Other rules
// (`placement`, `same-group`, `register-budget`): compared with Z3 in differential_test.cpp.
namespace twill::solve {
namespace {

using schedule::Verdict;
using solve_test::optimal_interval;
using solve_test::problem_of;
using solve_test::solve_checked;

TEST(Rules, Dependence) {
  const std::string rest =
      "group G registers 9\n"
      "op a latency 3\nop b latency 2\n"
      "a -> b\nb -> a distance 1\n";
  EXPECT_EQ(optimal_interval("loop x\n" + rest), 5);
  EXPECT_EQ(optimal_interval("loop x\nrelax dependence\n" + rest), 1);
  EXPECT_EQ(optimal_interval("loop x\n" + rest + "b -> a distance 1 delay 3\n"), 6);
}

TEST(Rules, TransferOnlyBetweenGroups) {
  // Widths: only group H is wide enough for b, so the value must cross, both ways.
  const std::string rest =
      "group G registers 9\ngroup H warps 8 registers 9\n"
      "op a latency 3\nop b latency 2 warps 8\n"
      "a -> b transfer 10\nb -> a distance 1\n";
  EXPECT_EQ(optimal_interval("loop x\n" + rest), 15);
  EXPECT_EQ(optimal_interval("loop x\nrelax width\n" + rest), 5);
}

/// Whether some issue cycles of three ops of occupancy 1, 2, 1 on units A, B, A keep the example of
/// decision 0002, by enumeration. The results of the first two, with these latencies, live in a
/// memory with room for one. Their lives reach from arrival or from issue to the issue of the last
/// reader.
bool example_fits(Cycles ii, bool from_arrival) {
  const Cycles most = 4 * ii + 8;
  for (Cycles m1 = 0; m1 < ii; ++m1) {
    for (Cycles m0 = m1 + 1 - ii; m0 < most; ++m0) {
      const Cycles least = std::max(m0 + 3, m1 + 1);
      for (Cycles m2 = least; m2 < least + most; ++m2) {
        if ((m2 - m0) % ii == 0) continue;  // unit A
        std::vector<int> alive(static_cast<std::size_t>(ii), 0);
        const auto live = [&](Cycles begin, Cycles end) {
          for (Cycles at = begin; at < end; ++at)
            ++alive[static_cast<std::size_t>((at % ii + ii) % ii)];
        };
        live(m0 + (from_arrival ? 3 : 0), m2);
        live(m1 + (from_arrival ? 1 : 0), std::max(m2, m0 + ii));
        if (std::all_of(alive.begin(), alive.end(), [](int copies) { return copies <= 1; })) {
          return true;
        }
      }
    }
  }
  return false;
}

TEST(Rules, AreChargedFromAnIssueSinceFromAnArrivalTheyWouldNotStretch) {
  for (const Cycles ii : {2, 4, 5, 6, 7, 8}) EXPECT_TRUE(example_fits(ii, true)) << ii;
  EXPECT_FALSE(example_fits(3, true));
  for (Cycles ii = 2; ii < 12; ++ii) EXPECT_FALSE(example_fits(ii, false)) << ii;
  EXPECT_EQ(optimal_interval(
                "loop x\nrelax one-stream\nunit A\nunit B\nmemory M capacity 1\ngroup G\n"
                "op a on A for 1 latency 3 occupies M 1\nop b on B for 2 latency 1 occupies M 1\n"
                "op c on A for 1\na -> c\nb -> c\nb -> a distance 1\n"),
            0);
}

TEST(Rules, Transfer) {
  // Groups: H alone can hold b's operand besides a's result, so a and b are in different groups.
  const auto interval = [](const std::string& put, const std::string& get, int memory) {
    return optimal_interval("loop x\nunit U\nunit V\nmemory M capacity " + std::to_string(memory) +
                            "\nminimum-compute-groups 2\ngroup G registers 4\ngroup H registers 4\n"
                            "op a on U for 4 registers 4\nop b on V for 4 registers 1\n"
                            "op put occupies M 2 " +
                            put + "\nop get registers 2 " + get +
                            "\n"
                            "a -> b\nb -> a distance 1\nhand-off a store put load get for b\n");
  };
  const std::string least = "latency 1 issue 1";
  EXPECT_EQ(interval(least, least, 2), 10);
  EXPECT_EQ(interval("latency 3 issue 1", "latency 5 issue 1", 2), 16);  // on the way from a to b
  EXPECT_EQ(interval(least, least, 1), 0);                               // no room in between
  EXPECT_EQ(interval(least, "latency 1 issue 30", 2), 39);  // b's threads are busy with it
  EXPECT_EQ(interval("on V for 20 latency 1 issue 1", least, 2), 28);  // b's unit is
}

TEST(Rules, Unit) {
  const std::string rest =
      "unit U\ngroup G registers 9\n"
      "op a on U for 2\nop b on U for 3\nop c on U for 1\n";
  EXPECT_EQ(optimal_interval("loop x\n" + rest), 6);
  EXPECT_EQ(optimal_interval("loop x\nrelax unit one-stream\n" + rest), 1);
}

TEST(Rules, UnitSlotsMayNotFitDistances) {
  // Intervals: MinII is 4 (unit), but b is exactly 2 cycles after a, modulo II, and c needs 2 in
  // between.
  const std::string rest =
      "relax one-stream\nunit U\ngroup G registers 9\n"
      "op a on U for 1\nop b on U for 1\nop c on U for 2\n"
      "a -> b delay 2\nb -> a distance 1 delay ";
  EXPECT_EQ(optimal_interval("loop x\n" + rest + "2\n"), 5);
  EXPECT_EQ(optimal_interval("loop x\n" + rest + "1\n"), 4);
}

TEST(Rules, Pipe) {
  const std::string rest =
      "pipe P\ngroup G registers 9\n"
      "op a uses P 3\nop b uses P 4\n";
  EXPECT_EQ(optimal_interval("loop x\n" + rest), 7);
  EXPECT_EQ(optimal_interval("loop x\nrelax pipe\n" + rest), 1);
}

TEST(Rules, Memory) {
  // Lives: a copy lives for 6 cycles, so with room for k copies, II is at least 6 / k.
  const auto loop = [](const std::string& capacity, const std::string& relaxed) {
    return "loop x\n" + relaxed + "memory M capacity " + capacity +
           "\ngroup G registers 9\n"
           "op a latency 5 occupies M 2\nop b\na -> b read-hold 1\n";
  };
  EXPECT_EQ(optimal_interval(loop("1", "")), 0);
  EXPECT_EQ(optimal_interval(loop("2", "")), 6);
  EXPECT_EQ(optimal_interval(loop("4", "")), 3);
  EXPECT_EQ(optimal_interval(loop("5", "")), 3);
  EXPECT_EQ(optimal_interval(loop("12", "")), 1);
  EXPECT_EQ(optimal_interval(loop("1", "relax memory\n")), 1);
  // Depth: 101 copies at II 1, more than are counted at first, and room for one less.
  const std::string deep =
      "\ngroup G registers 9\nop a latency 100 occupies M 1\nop b\na -> b read-hold 1\n";
  EXPECT_EQ(optimal_interval("loop x\nmemory M capacity 101" + deep), 1);
  EXPECT_EQ(optimal_interval("loop x\nmemory M capacity 100" + deep), 2);
}

TEST(Rules, Registers) {
  const auto loop = [](const std::string& groups, const std::string& relaxed) {
    return "loop x\n" + relaxed + groups +
           "op a latency 4 registers 3\nop b latency 4 registers 3\nop c\n"
           "a -> c transfer 20\nb -> c transfer 20\n";
  };
  const std::string one = "group G registers ";
  EXPECT_EQ(optimal_interval(loop(one + "2\n", "")), 0);
  EXPECT_EQ(optimal_interval(loop(one + "5\n", "")), 0);  // both live at once
  EXPECT_EQ(optimal_interval(loop(one + "6\n", "")), 4);
  EXPECT_EQ(optimal_interval(loop(one + "12\n", "")), 2);
  EXPECT_EQ(optimal_interval(loop(one + "2\n", "relax registers\n")), 1);
  // Registers: two groups hold one value each; the value that crosses lives 20 cycles longer.
  EXPECT_EQ(optimal_interval(loop("group G registers 3\ngroup H registers 3\n", "")), 24);
}

// Protects: values that replace each other around the loop count once in a group, and only there.
TEST(Rules, AccumulatorsAreCountedOnce) {
  const auto loop = [](const std::string& groups) {
    return "loop x\n" + groups +
           "op mma latency 4 registers 4\nop scale latency 2 registers 4\nop t latency 3 registers "
           "2\n"
           "op use\n"
           "mma -> scale distance 1 transfer 9\nscale -> mma in-place transfer 9\nt -> use "
           "transfer 9\n";
  };
  EXPECT_EQ(optimal_interval(loop("group G registers 3\n")), 0);
  EXPECT_EQ(optimal_interval(loop("group G registers 5\n")), 0);
  EXPECT_EQ(optimal_interval(loop("group G registers 6\n")), 6);
  // Choice: the small value moves out, or the accumulator is split over two groups at 9 cycles each
  // way.
  EXPECT_EQ(optimal_interval(loop("group G registers 4\ngroup H registers 2\n")), 6);
  EXPECT_EQ(optimal_interval(loop("group G registers 3\ngroup H registers 3\n")), 0);
}

// Protects an accumulator with a reader in another group. The longer life of a for r (register
// time) is part of the iteration for which a or b is alive anyway. Counted twice, it refuted this
// loop.
TEST(Rules, AnAccumulatorReadAbroadIsStillCountedOnce) {
  const std::string loop =
      "loop x\nunit X\ngroup G registers 64\ngroup H warps 8 registers 64\n"
      "op a latency 1 issue 1 registers 64\nop b latency 1 issue 1 registers 64\n"
      "op r on X for 10 latency 1 issue 1 warps 8\n"
      "a -> b\nb -> a distance 1\na -> r transfer 5\n";
  EXPECT_EQ(optimal_interval(loop), 10);
}

TEST(Rules, Width) {
  const std::string rest = "group G registers 9\nop a\nop b warps 1\n";
  EXPECT_EQ(optimal_interval("loop x\n" + rest), 0);
  EXPECT_EQ(optimal_interval("loop x\nrelax width\n" + rest), 1);
  const auto answer = solve_checked(problem_of("loop x\n" + rest));
  EXPECT_NE(answer.argument.find("b can run in"), std::string::npos) << answer.argument;
}

TEST(Rules, LoadGroup) {
  const std::string ops = "op ld latency 9 async streaming\nop a\nld -> a\n";
  const std::string compute = "group G registers 9\n";
  const std::string load = "group L registers 9 loads\n";
  EXPECT_EQ(optimal_interval("loop x\n" + compute + ops), 0);
  EXPECT_EQ(optimal_interval("loop x\n" + load + ops), 0);
  EXPECT_EQ(optimal_interval("loop x\n" + compute + load + ops), 1);
  EXPECT_EQ(optimal_interval("loop x\nrelax load-group\n" + load + ops), 1);
}

TEST(Rules, Blocking) {
  // Circuits: one holds b exactly 3 cycles after a, another c at the cycle of a, whose issue takes
  // 4 of the 5 cycles. So b may be issued meanwhile unless it has to wait.
  const auto loop = [](const std::string& relaxed, const std::string& blocking) {
    return "loop x\nrelax one-stream" + relaxed +
           "\nunit U\ngroup G registers 9\n"
           "op a\nop b\nop c on U for 5 issue 4\n"
           "a -> b delay 3" +
           blocking +
           "\nb -> a distance 1 delay 2\n"
           "a -> c delay 0\nc -> a distance 1 delay 5\n";
  };
  EXPECT_EQ(optimal_interval(loop("", "")), 5);
  EXPECT_EQ(optimal_interval(loop("", " blocking")), 6);
  EXPECT_EQ(optimal_interval(loop(" blocking", " blocking")), 5);
}

TEST(Rules, BlockingOnValuesOfAnotherGroup) {
  // Crossing: b waits because a's value comes from the wide group.
  const auto loop = [](const std::string& registers) {
    return "loop x\nrelax one-stream\nunit U\ngroup G registers 9\ngroup W warps 8 registers 9\n"
           "op a warps 8" +
           registers +
           "\nop b\nop c on U for 5 issue 4\n"
           "a -> b delay 3\nb -> a distance 1 delay 2\n"
           "a -> c delay 0\nc -> a distance 1 delay 5\n";
  };
  EXPECT_EQ(optimal_interval(loop("")), 5);
  EXPECT_EQ(optimal_interval(loop(" registers 1")), 6);
}

TEST(Rules, OneStream) {
  const std::string ops = "op a issue 3\nop b issue 4\n";
  EXPECT_EQ(optimal_interval("loop x\ngroup G registers 9\n" + ops), 7);
  EXPECT_EQ(optimal_interval("loop x\ngroup G registers 9\ngroup H registers 9\n" + ops), 4);
  EXPECT_EQ(optimal_interval("loop x\nrelax one-stream blocking\ngroup G registers 9\n" + ops), 1);
}

TEST(Rules, MinimumComputeGroups) {
  const auto groups = [](const std::string& wanted) {
    const auto answer = solve_checked(problem_of(
        "loop x\nminimum-compute-groups " + wanted +
        "\ngroup G registers 9\ngroup H registers 9\ngroup I registers 9\nop a\nop b\n"));
    EXPECT_EQ(answer.verdict, Verdict::optimal);
    return answer.objectives.at(1).value;
  };
  EXPECT_EQ(groups("1"), 1);
  EXPECT_EQ(groups("2"), 2);
  EXPECT_EQ(groups("3"), 2);  // limited by the ops
}

// Protects: a helper of one warp satisfies no demand for compute groups, and raises none.
TEST(Rules, MinimumComputeGroupsAreOfTheComputeWidth) {
  const auto groups = [](const std::string& wanted, const std::string& pool) {
    const auto answer =
        solve_checked(problem_of("loop x\nminimum-compute-groups " + wanted + "\n" + pool +
                                 "group K warps 1\nop a\nop b\nop c warps 1\nop d warps 1\n"));
    EXPECT_EQ(answer.verdict, Verdict::optimal);
    return answer.objectives.at(1).value;  // helpers included
  };
  EXPECT_EQ(groups("1", "group G\ngroup H\n"), 2);
  EXPECT_EQ(groups("2", "group G\ngroup H\n"), 3);
  EXPECT_EQ(groups("3", "group G\ngroup H\ngroup I\n"), 3);  // limited by the wide ops
  EXPECT_EQ(groups("2", "group G\n"), 2);                    // limited by the wide groups
}

TEST(Rules, InfeasibleHasAnArgument) {
  // Infeasibility that only a search finds: three values of 2 that all live at the same time in 5.
  const auto answer =
      solve_checked(problem_of("loop x\nmemory M capacity 5\ngroup G registers 9\n"
                               "op a latency 1 occupies M 2\nop b latency 1 occupies M 2\nop c "
                               "latency 1 occupies M 2\nop d\n"
                               "a -> d\nb -> d\nc -> d\n"));
  EXPECT_EQ(answer.verdict, Verdict::infeasible);
  EXPECT_NE(answer.argument.find("exhaustive search"), std::string::npos) << answer.argument;
}

TEST(AlternativeSchedules, ThePipesShareTheWork) {
  // Pipes: two ops of 4 cycles each on either of two pipes go one to each. A third op has no
  // choice.
  const auto answer =
      solve_checked(problem_of("loop x\npipe P\npipe Q\ngroup G registers 9\n"
                               "op a\n way p uses P 4\n way q uses Q 4\nop b\n way p uses P 4\n "
                               "way q uses Q 4\nop c uses P 1\n"));
  ASSERT_EQ(answer.verdict, Verdict::optimal);
  EXPECT_EQ(answer.schedule->initiation_interval, 5);
  EXPECT_NE(answer.schedule->ops[0].alternative, answer.schedule->ops[1].alternative);
}

TEST(AlternativeSchedules, BeyondTheLimitNothingIsClaimed) {
  std::string text = "loop x\npipe P\npipe Q\ngroup G registers 9\n";
  for (int i = 0; i < 5; ++i) {
    text += "op a" + std::to_string(i) + "\n way p uses P 4\n way q uses Q 4\n";
  }
  Options options;
  options.most_combinations = 2;
  const auto answer = solve_checked(problem_of(text), options);
  EXPECT_EQ(answer.verdict, Verdict::feasible);
  EXPECT_LT(answer.lower_bound.value, answer.schedule->initiation_interval);
  EXPECT_FALSE(answer.objectives.front().proven);
}

}  // namespace
}  // namespace twill::solve
