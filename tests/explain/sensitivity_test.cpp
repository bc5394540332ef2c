#include "twill/explain/sensitivity.h"

#include <algorithm>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "solve/random_problem.h"
#include "solve/solve_text.h"
#include "twill/explain/explain.h"
#include "twill/problem/problem.h"

namespace twill::explain {
namespace {

using problem::Problem;
using schedule::Verdict;
using solve_test::optimal_interval;
using solve_test::problem_of;
using solve_test::random_problem;
using solve_test::with_transfer_ops;

const WhatIf& what_if_named(const std::vector<WhatIf>& what_ifs, const std::string& what) {
  const auto at = std::find_if(what_ifs.begin(), what_ifs.end(),
                               [&](const WhatIf& it) { return it.what == what; });
  if (at == what_ifs.end()) throw std::runtime_error("no what-if " + what);
  return *at;
}

/// Finds the first step whose value has this text.
std::int64_t step_named(const WhatIf& what_if, const std::string& value) {
  for (std::int64_t step = 1; step <= what_if.last; ++step) {
    if (what_if.value(step) == value) return step;
  }
  throw std::runtime_error("no step " + value);
}

/// Finds the least II after a step from scratch; 0: none.
Cycles least_at(const WhatIf& what_if, std::int64_t step) {
  return optimal_interval(what_if.at(step));
}

bool meets(Cycles interval, std::optional<Cycles> goal) {
  return interval > 0 && (!goal || interval <= *goal);
}

/// Checks every figure of an explanation by whole searches.
void expect_true(const Problem& problem, const Explanation& it) {
  const std::vector<WhatIf> what_ifs = what_ifs_of(problem);
  EXPECT_TRUE(it.sensitivity.undecided.empty());
  for (const Help& help : it.sensitivity.helps) {
    SCOPED_TRACE(help.what);
    const WhatIf& what_if = what_if_named(what_ifs, help.what);
    const bool of_goal = it.asked || !it.question;
    for (const Point& point : help.points) {
      const std::int64_t step = step_named(what_if, point.to);
      const Cycles there = least_at(what_if, step);
      EXPECT_TRUE(meets(there, it.question));
      EXPECT_TRUE(of_goal || there == point.interval) << point.to << " gives " << there;
      if (step == 1 || point.extent != Extent::least) continue;
      const Cycles before = least_at(what_if, step - 1);
      const bool first = &point == &help.points.front() && !help.of_op;
      if (of_goal || first) {
        EXPECT_FALSE(meets(before, it.question)) << "less than " << point.to << " does it";
      } else {
        EXPECT_GT(before, point.interval) << "less than " << point.to << " does it";
      }
    }
    EXPECT_TRUE(of_goal || help.points.back().interval == least_at(what_if, what_if.last))
        << "more buys";
  }
  std::vector<std::string> useless = it.sensitivity.useless;
  useless.insert(useless.end(), it.sensitivity.useless_of_op.begin(),
                 it.sensitivity.useless_of_op.end());
  for (const std::string& what : useless) {
    const WhatIf& what_if = what_if_named(what_ifs, what);
    EXPECT_FALSE(meets(least_at(what_if, what_if.last), it.question)) << what << " does help";
  }
  EXPECT_EQ(it.sensitivity.helps.size() + useless.size(), what_ifs.size()) << "some are not told";
}

/// Explains a problem's optimum, and one cycle less. Returns how many what-ifs would help.
std::size_t expect_true(const Problem& problem) {
  SCOPED_TRACE(schedule::print_loop(schedule::loop_text_of(problem)));
  const Explanation whole = explain(problem, {}, {}, {});
  if (whole.status == Status::held && *whole.question == 0) return 0;
  expect_true(problem, whole);
  if (whole.status == Status::held && *whole.question >= 2) {
    const Explanation asked = explain(problem, *whole.question - 1, {}, {});
    EXPECT_EQ(asked.status, Status::held);
    expect_true(problem, asked);
  }
  return whole.sensitivity.helps.size();
}

// Protects every "from x to y buys z cycles" and every "does not help".
TEST(Sensitivity, HoldsWhenSolvedAgain) {
  std::mt19937 random(41);
  std::size_t helps = 0;
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Problem problem = random_problem(random, {.ops = 3 + round % 3, .groups = 1 + round % 2});
    std::mt19937 own(static_cast<unsigned>(round));
    if (round % 4 == 3) problem = solve_test::with_register_budget(own, problem);
    if (round % 4 == 1) problem = solve_test::with_tight_memory(own, problem);
    helps += expect_true(problem);
  }
  EXPECT_GT(helps, 100U);
}

// Protects the same claims for loops with transfer ops: each what-if reported as useless was asked
// or follows from the core. A core may contain costs of stores and loads.
TEST(Sensitivity, OfTransfersHoldsWhenSolvedAgain) {
  std::mt19937 random(43);
  std::size_t helps = 0;
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    helps += expect_true(with_transfer_ops(
        random, random_problem(random, {.ops = 2 + round % 3, .groups = 2 + round % 2})));
  }
  EXPECT_GT(helps, 60U);
}

// Protects the order of the steps, on which the search for the least step rests: a later step has
// all schedules of an earlier one.
TEST(WhatIfs, NeverHurt) {
  std::mt19937 random(42);
  for (int round = 0; round < 25; ++round) {
    Problem problem =
        random_problem(random, {.ops = 4, .groups = 2, .alternatives = 1 + round % 2});
    std::mt19937 own(static_cast<unsigned>(round));
    if (round % 3 == 0) problem = with_transfer_ops(random, problem);
    if (round % 3 == 1) problem = solve_test::with_register_budget(own, problem);
    SCOPED_TRACE("round " + std::to_string(round) + "\n" +
                 schedule::print_loop(schedule::loop_text_of(problem)));
    for (const WhatIf& what_if : what_ifs_of(problem)) {
      Cycles before = optimal_interval(problem);
      for (const std::int64_t step :
           {std::int64_t{1}, std::min<std::int64_t>(2, what_if.last),
            std::max(std::min<std::int64_t>(2, what_if.last), what_if.last / 2), what_if.last}) {
        const Cycles now = least_at(what_if, step);
        EXPECT_TRUE(before == 0 || (now > 0 && now <= before))
            << what_if.what << " step " << step << ": " << before << " -> " << now;
        before = now;
      }
    }
  }
}

/// Finds the help of that name; a help without points if there is none.
Help help_named(const Explanation& it, const std::string& what) {
  for (const Help& help : it.sensitivity.helps) {
    if (help.what == what) return help;
  }
  return {what, "", {}, false};
}

constexpr const char* kTwoValues =
    "loop x\nunit U\nmemory M capacity 12\ngroup G registers 10\n"
    "op a on U for 4 latency 4 registers 6 occupies M 2\n"
    "op b on U for 4 latency 4 registers 6 occupies M 2\n"
    "op c issue 0 latency 0\nop d issue 0 latency 0\n"
    "a -> c delay 8\nb -> d delay 8\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

// Protects the same claims by hand, with the change made in the text: both values live at once from
// 12 registers on, and not with fewer.
TEST(Sensitivity, OfRegistersByHand) {
  const Explanation it = explain(problem_of(kTwoValues), {}, {}, {});
  ASSERT_EQ(it.status, Status::held);
  EXPECT_EQ(it.answer.schedule->initiation_interval, 16);
  const Help registers = help_named(it, "registers per thread of G");
  ASSERT_FALSE(registers.points.empty());
  EXPECT_EQ(registers.from, "10");
  EXPECT_EQ(registers.points.front().to, "12");
  const Cycles with_12 = optimal_interval(replaced(kTwoValues, "registers 10", "registers 12"));
  EXPECT_EQ(registers.points.front().interval, with_12);
  EXPECT_LT(with_12, 16);
  EXPECT_EQ(optimal_interval(replaced(kTwoValues, "registers 10", "registers 11")), 16);
  const Help groups = help_named(it, "number of compute groups of 4 warps");
  ASSERT_FALSE(groups.points.empty());
  EXPECT_EQ(groups.points.front().to, "2");
  EXPECT_EQ(groups.points.front().interval,
            optimal_interval(replaced(kTwoValues, "group G registers 10",
                                      "group G registers 10\ngroup H registers 10")));
  EXPECT_TRUE(help_named(it, "capacity of M").points.empty()) << "there is room for six";
}

// Protects: one register more is enough for a value in each of two groups.
TEST(Sensitivity, OfARegisterBudgetByHand) {
  const std::string text = replaced(kTwoValues, "group G registers 10",
                                    "group G registers 10\ngroup H registers 10\n"
                                    "register-budget 11 of G H");
  const Explanation it = explain(problem_of(text), {}, {}, {});
  ASSERT_EQ(it.status, Status::held);
  EXPECT_EQ(it.answer.schedule->initiation_interval, 16);
  const Help shared = help_named(it, "registers per thread that G and H share");
  ASSERT_FALSE(shared.points.empty());
  EXPECT_EQ(shared.from, "11");
  EXPECT_EQ(shared.points.front().to, "12");
  EXPECT_EQ(shared.points.front().interval, 8);
}

// Protects: the gain of another form of the loop depends on its demands only.
TEST(Sensitivity, OfAnotherFormOfTheLoop) {
  const Problem problem = problem_of(kTwoValues);
  const std::vector<Variant> variants = {
      {"pool", "", "larger", problem_of(replaced(kTwoValues, "registers 10", "registers 12"))},
      {"pool", "", "smaller", problem_of(replaced(kTwoValues, "registers 10", "registers 6"))}};
  const Explanation it = explain(problem, {}, variants, {});
  const Help help = help_named(it, "pool");
  ASSERT_EQ(help.points.size(), 1u);
  EXPECT_EQ(help.points.front().to, "larger");
  EXPECT_LT(help.points.front().interval, 16);
  EXPECT_NE(std::find(it.sensitivity.useless.begin(), it.sensitivity.useless.end(), "pool smaller"),
            it.sensitivity.useless.end());
}

}  // namespace
}  // namespace twill::explain
