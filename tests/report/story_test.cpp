#include "twill/report/story.h"

#include <cmath>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "twill/schedule/loop_text.h"

namespace twill::report {
namespace {

/// Makes a loop that is proven to take at least 540 cycles, with a plan that takes these.
Outcome with_plan(double in_order, double with_signals, double simulated) {
  auto loop = schedule::parse_loop("loop x\ngroup G\nop a latency 3\n", "x.loop");
  Outcome outcome(std::move(loop.value().problem));
  outcome.answer.lower_bound.value = 540;
  outcome.answer.verdict = schedule::Verdict::optimal;
  outcome.answer.schedule = schedule::Schedule{540, {{}}};
  outcome.built = Built{};
  outcome.built->planned = true;
  outcome.built->in_order = in_order;
  outcome.built->with_signals = with_signals;
  outcome.built->simulated = simulated;
  return outcome;
}

std::string parts_of(const Outcome& outcome) {
  std::string words;
  for (const GapPart& part : gap_of(outcome)) {
    words += part.what + " " + std::to_string(std::lround(10 * part.cycles)) + ";";
  }
  return words;
}

// Protects: the gap between bound and plan is the sum of its parts as printed. A run with fewer
// causes may be slower (of a gap of 480.7 cycles one part was shown as 1020.3).
TEST(Story, PartsAddUpToTheWhole) {
  EXPECT_EQ(parts_of(with_plan(600, 610.5, 640.7)), "order 600;signals 105;load latency 302;");
  EXPECT_EQ(parts_of(with_plan(1560.3, 1020, 1020.7)), "order 4807;");
  EXPECT_EQ(parts_of(with_plan(500, 1560.3, 1020.7)), "signals 4807;");
  // Rounding: each part is rounded, and so is the whole: 0.04 + 0.04 + 0.04 are one tenth.
  EXPECT_EQ(parts_of(with_plan(540.04, 540.08, 540.12)), "signals 1;");
  // Rounding of half a tenth, as in the headline: 540.25 is printed as 540.2.
  EXPECT_EQ(parts_of(with_plan(540.25, 540.25, 540.25)), "order 2;");
  EXPECT_EQ(parts_of(with_plan(540, 540, 540)), "");
  EXPECT_EQ(parts_of(with_plan(600, 600, 530)), "");  // no part lies between
}

// Protects: the first screen has the schedule's figures where they are the answer's. A kernel's
// schedule figures belong to one end of its costs.
TEST(Story, TellsNoPricesOfAKernel) {
  Outcome outcome = with_plan(600, 610.5, 640.7);
  EXPECT_NE(first_screen(outcome).find("schedule    II 540 cycles"), std::string::npos)
      << first_screen(outcome);
  outcome.rate = "slowest";
  EXPECT_EQ(first_screen(outcome).find("II 540"), std::string::npos) << first_screen(outcome);
}

}  // namespace
}  // namespace twill::report
