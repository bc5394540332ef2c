#include "twill/explain/explain.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck/gtest.h>

#include "schedule/random_parts.h"
#include "solve/solve_text.h"
#include "twill/explain/print.h"
#include "twill/problem/problem.h"

namespace twill::explain {
namespace {

using problem::Problem;
using solve_test::bundled;
using solve_test::problem_of;

Heading heading() {
  Heading out;
  out.input = "x.loop";
  return out;
}

std::string shown(const Explanation& it) { return explanation_text(heading(), it); }

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Protects the answered question. Below the optimum, the reason against this interval; from the
// optimum on, that no requirement prevents it.
TEST(Explain, AnswersTheIntervalAskedFor) {
  const Problem problem = bundled("fwd_b1");  // optimum 1676, bounds 1132
  const Explanation below = explain(problem, 1675, {}, {});
  EXPECT_EQ(below.status, Status::held);
  EXPECT_FALSE(below.bound);
  EXPECT_GT(below.core.requirements.size(), 1u);
  const Explanation far_below = explain(problem, 1131, {}, {});
  EXPECT_EQ(far_below.status, Status::held);
  ASSERT_TRUE(far_below.bound) << "a circuit says it without a search";
  EXPECT_EQ(far_below.bound->value, 1132);
  for (const Cycles ii : {1676, 1677, 100'000}) {
    const Explanation above = explain(problem, ii, {}, {});
    EXPECT_EQ(above.status, Status::reachable);
    EXPECT_TRUE(above.core.requirements.empty());
    EXPECT_TRUE(contains(shown(above), "Yes")) << shown(above);
  }
}

TEST(Explain, NothingHoldsAnIntervalOfOne) {
  const Explanation it = explain(problem_of("loop x\ngroup G\nop a issue 1\n"), {}, {}, {});
  EXPECT_EQ(it.status, Status::held);
  EXPECT_TRUE(it.core.requirements.empty());
  EXPECT_TRUE(contains(shown(it), "at least one cycle")) << shown(it);
}

// Protects: the missing requirement is named if there is no schedule at all.
TEST(Explain, SaysWhatIsMissing) {
  const Problem problem =
      problem_of("loop x\ngroup G registers 8\nop a latency 1 registers 9\nop b\na -> b\n");
  const Explanation it = explain(problem, {}, {}, {});
  EXPECT_EQ(it.status, Status::infeasible);
  EXPECT_FALSE(it.core.requirements.empty());
  EXPECT_TRUE(contains(shown(it), "registers per thread of G from 8 to 9 makes it possible"))
      << shown(it);
}

// Protects: under a limit an explanation has fewer claims, but no other claims.
TEST(Explain, IsHonestAboutLimits) {
  Limits limits;
  limits.work_limit = 1;
  const Explanation none = explain(bundled("fwd_b1"), 1500, {}, limits);
  EXPECT_EQ(none.status, Status::undecided);
  EXPECT_TRUE(contains(shown(none), "not decided")) << shown(none);
  limits.cancelled = [] { return true; };
  EXPECT_NE(explain(bundled("fwd_b1"), 1675, {}, limits).status, Status::infeasible);
}

// Claims made within a work limit hold without the limit: a what-if reported as useless does not
// help, and no reported gain is too large.
TEST(Explain, SaysLessWithinALimitButNothingElse) {
  const Problem problem = bundled("fwd_b1");
  const Explanation whole = explain(problem, {}, {}, {});
  ASSERT_TRUE(whole.sensitivity.undecided.empty());
  bool said_less = false;
  for (const std::uint64_t work : {5'000'000U, 10'000'000U, 30'000'000U, 60'000'000U}) {
    Limits limits;
    limits.work_limit = work;
    const Explanation part = explain(problem, {}, {}, limits);
    if (part.status != Status::held) continue;
    said_less = said_less || !part.core.minimal || !part.sensitivity.undecided.empty();
    for (const std::string& what : part.sensitivity.useless) {
      EXPECT_NE(std::find(whole.sensitivity.useless.begin(), whole.sensitivity.useless.end(), what),
                whole.sensitivity.useless.end())
          << what;
    }
    for (const Help& help : part.sensitivity.helps) {
      const auto same = std::find_if(whole.sensitivity.helps.begin(), whole.sensitivity.helps.end(),
                                     [&](const Help& it) { return it.what == help.what; });
      ASSERT_NE(same, whole.sensitivity.helps.end()) << help.what;
      for (const Point& point : help.points) {
        EXPECT_LE(point.interval, *part.question) << help.what << " buys nothing";
        EXPECT_GE(point.interval, same->points.back().interval) << help.what;
      }
    }
  }
  EXPECT_TRUE(said_less) << "the limits are too large to test anything";
}

// Protects the work limit: however hard the questions of a loop are, together they cost about the
// allowed work. Their number once made explanations take a minute.
TEST(Explain, KeepsItsLimit) {
  for (const char* name : {"fwd_b2_2wg", "bwd_b1"}) {
    for (const std::uint64_t work : {20'000'000U, 40'000'000U}) {
      Limits limits;
      limits.work_limit = work;
      const Explanation it = explain(bundled(name), {}, {}, limits);
      EXPECT_LT(it.work, work + work / 4) << name;
      EXPECT_GT(it.questions, 10U) << name;
    }
  }
}

// Protects: facts that are already proven are not asked again.
TEST(Explain, BeginsWithWhatIsKnown) {
  const Problem problem = bundled("bwd_h1");
  const schedule::Answer answer = solve::solve(problem);
  ASSERT_EQ(answer.verdict, schedule::Verdict::optimal);
  Limits limits;
  limits.work_limit = 1;
  const Explanation unknown = explain(problem, {}, {}, limits);
  EXPECT_EQ(unknown.status, Status::undecided);
  const Explanation known =
      explain(problem, {}, {}, limits, Known{*answer.schedule, answer.lower_bound});
  EXPECT_EQ(known.status, Status::held);
  EXPECT_EQ(known.question, answer.schedule->initiation_interval - 1);
}

// Protects: a schedule found for one question answers others without a search: the same question,
// and the question about a loop with fewer demands.
TEST(Asker, FindsNothingTwice) {
  const Problem problem = bundled("fwd_b1");
  const Limits limits;
  Asker asker(limits);
  const solve::Decision first = asker.decide(problem, 1676);
  ASSERT_EQ(first.decided, solve::Decided::feasible);
  EXPECT_GT(first.work, 0U);
  const Problem less = without(problem, std::vector<Requirement>{{Kind::load_group}});
  for (const Problem& again : {problem, less}) {
    const solve::Decision decision = asker.decide(again, 1676);
    EXPECT_EQ(decision.decided, solve::Decided::feasible);
    EXPECT_EQ(decision.work, 0U);
    ASSERT_TRUE(decision.schedule);
    EXPECT_LE(decision.schedule->initiation_interval, 1676);
  }
  EXPECT_EQ(asker.decide(problem, 1675).decided, solve::Decided::infeasible);
}

// Protects: the same input gives the same bytes, in lines that fit, and JSON that can be read.
TEST(Explain, PrintsTheSameAgain) {
  for (const char* name : {"fwd_b1", "gemm"}) {
    const Problem problem = bundled(name);
    const Explanation one = explain(problem, {}, {}, {});
    const Explanation two = explain(problem, {}, {}, {});
    EXPECT_EQ(shown(one), shown(two));
    const std::string text = explanation_json(heading(), one);
    EXPECT_EQ(text, explanation_json(heading(), two));
    const auto json = nlohmann::json::parse(text);
    EXPECT_EQ(json["core"]["requirements"].size(), one.core.requirements.size());
    EXPECT_EQ(json["optimum"]["initiation_interval"], one.answer.schedule->initiation_interval);
    std::size_t begin = 0;
    const std::string lines = shown(one);
    for (std::size_t end = lines.find('\n'); end != std::string::npos;
         begin = end + 1, end = lines.find('\n', begin)) {
      EXPECT_LE(end - begin, 100u) << lines.substr(begin, end - begin);
    }
  }
}

// Protects: every loop has an answer, and the core of that answer is a core.
RC_GTEST_PROP(Explain, HoldsForAnyLoop, ()) {
  const Problem problem = *problem::pose(schedule::any_parts({4, 6, 2}));
  const std::optional<Cycles> ii =
      schedule::any_flag() ? std::optional<Cycles>(schedule::any(1, 40)) : std::nullopt;
  Limits limits;
  limits.work_limit = 3'000'000;
  const Explanation it = explain(problem, ii, {}, limits);
  RC_ASSERT(!shown(it).empty());
  RC_ASSERT(nlohmann::json::parse(explanation_json(heading(), it)).is_object());
  if (it.status != Status::held || it.core.requirements.empty() || !it.core.minimal) return;
  RC_ASSERT(*it.question >= 1);
  const auto decided = [&](const std::vector<Requirement>& requirements) {
    return solve::decide(only(problem, requirements), *it.question).decided;
  };
  RC_ASSERT(decided(it.core.requirements) == solve::Decided::infeasible);
  for (std::size_t i = 0; i < it.core.requirements.size(); ++i) {
    std::vector<Requirement> less = it.core.requirements;
    less.erase(less.begin() + static_cast<std::ptrdiff_t>(i));
    RC_ASSERT(decided(less) == solve::Decided::feasible);
  }
}

// Protects: the largest numbers of a loop do not overflow when something is added to them.
TEST(Explain, TakesTheLargestNumbers) {
  std::string text =
      "loop x\nunit U\nunit V\nmemory M capacity 1000000000\n"
      "group G registers 1000000000\n";
  for (int i = 0; i < 33; ++i) {
    const std::string name = "op" + std::to_string(i);
    text += "op " + name + " on " + (i % 2 == 0 ? "U" : "V") +
            " for 999999999 latency 999999999 issue 999999999 registers 9 occupies M 9\n";
  }
  text += "op0 -> op1\nop1 -> op2\nop2 -> op0 distance 1\n";
  const Explanation it = explain(problem_of(text), {}, {}, {});
  EXPECT_EQ(it.status, Status::held);
  ASSERT_TRUE(it.bound) << "one group issues everything";
  EXPECT_EQ(it.bound->value, 33 * Cycles{999'999'999});
  EXPECT_FALSE(shown(it).empty());
}

TEST(Chains, JoinDependences) {
  const Problem problem = problem_of(
      "loop x\ngroup G\nop a latency 1\nop b latency 2\nop c latency 3\n"
      "b -> c\na -> b\nc -> a distance 1\nc -> c distance 2\n");
  EXPECT_EQ(chains_of(problem, {0, 1}), (std::vector<std::string>{"a --1--> b --2--> c"}));
  EXPECT_EQ(chains_of(problem, {0, 1, 2}),
            (std::vector<std::string>{"b --2--> c --3, next iteration--> a --1--> b"}));
  EXPECT_EQ(chains_of(problem, {3}), (std::vector<std::string>{"c --3, 2 iterations on--> c"}));
}

}  // namespace
}  // namespace twill::explain
