#include "twill/report/alternatives.h"

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "twill/schedule/loop_text.h"

namespace twill::report {
namespace {

using schedule::Difference;
using schedule::OpId;
using Kind = Difference::Kind;

const char* const kTwoProducts = R"(loop tiny
unit TC
group WG0 registers 10
group WG1 registers 10
op mmaA on TC for 4
op mmaB on TC for 4
op exp
  way mufu latency 3
  way poly latency 5
schedule interval 8
  mmaA at 0 in WG0
  mmaB at 4 in WG1
  exp at 4 in WG0 way mufu
)";

Outcome outcome_of_two() {
  auto loop = schedule::parse_loop(kTwoProducts, "tiny.loop");
  if (!loop) throw std::runtime_error(to_string(loop.error()));
  Outcome outcome(loop->problem);
  outcome.answer.schedule = loop->schedule;
  outcome.answer.objectives = {{"initiation_interval", 8, 8, true}, {"groups", 2, 2, true}};
  return outcome;
}

// Protects: the sentences give the order of ops, with iterations counted.
TEST(AlternativeSchedules, DifferencesInWords) {
  const problem::Problem problem = outcome_of_two().problem;
  const OpId a(0);
  const OpId b(1);
  const OpId e(2);
  const std::vector<std::pair<Difference, std::string>> expected = {
      {{Kind::alternative, e, e, 1, 0}, "exp by poly instead of mufu"},
      {{Kind::group, b, b, 0, 1}, "mmaB in WG0 instead of WG1"},
      {{Kind::order, a, b, 0, -1}, "mmaA after mmaB instead of before it"},
      {{Kind::order, a, b, -2, 1},
       "mmaA before mmaB of the iteration before instead of after mmaB of the next iteration"},
      {{Kind::order, a, b, 2, -3},
       "mmaA after mmaB of 2 iterations later instead of before mmaB of 2 iterations earlier"}};
  for (const auto& [difference, words] : expected) EXPECT_EQ(in_words(problem, difference), words);
}

// Protects: a line names a few differences and counts the others.
TEST(AlternativeSchedules, ManyDifferencesAreCounted) {
  const problem::Problem problem = outcome_of_two().problem;
  const Difference it{Kind::group, OpId(1), OpId(1), 0, 1};
  const std::string words = "mmaB in WG0 instead of WG1";
  EXPECT_EQ(in_words(problem, std::vector<Difference>(3, it)), words + "; " + words + "; " + words);
  EXPECT_EQ(in_words(problem, std::vector<Difference>(5, it)),
            words + "; " + words + "; " + words + "; and 2 more");
}

// Protects: the text names the proven alternatives, and the reason for the end of the list.
TEST(AlternativeSchedules, TheTextSaysWhatIsProven) {
  Outcome it = outcome_of_two();
  AlternativeSchedules list;
  list.within = 5;
  list.most_interval = 8;
  list.end = AlternativeSchedules::End::complete;
  it.alternatives = list;
  EXPECT_NE(alternatives_text(it).find("there is no other, proven"), std::string::npos);
  AlternativeSchedule other;
  other.schedule = *it.answer.schedule;
  other.objectives = it.answer.objectives;
  other.differences = {{Kind::order, OpId(0), OpId(1), 0, -1}};
  list.list = {other};
  list.end = AlternativeSchedules::End::limit;
  it.alternatives = list;
  const std::string text = alternatives_text(it);
  EXPECT_NE(text.find("work\n  limit"), std::string::npos) << text;
  EXPECT_NE(text.find("1   8       2  gap\n"), std::string::npos) << text;
  EXPECT_NE(text.find("1: mmaA after mmaB instead of before it\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace twill::report
