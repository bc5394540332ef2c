// Protects the comparison of the paper's model, where it is wrong, with the right model. Z3 reads
// Figures 4 to 6 from `twill emit smtlib --literal`, and its answers are compared with the engine's
// and the checker's.

#include <cmath>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "emit/z3_answer.h"
#include "paper/paper_loop.h"
#include "twill/driver/emit_smtlib.h"
#include "twill/emit/smtlib.h"
#include "twill/problem/normalize.h"
#include "twill/problem/problem.h"
#include "twill/schedule/bounds.h"

namespace twill {
namespace {

using paper_test::changed;
using paper_test::loop_text;
using paper_test::optimal_interval;
using problem::Problem;
using schedule::Schedule;

/// Makes the schedule that a solution of the figures describes.
std::optional<Schedule> literal_solution(const Problem& problem, const emit::StraightLine& shape) {
  const auto text = emit::smtlib_literal(problem, shape);
  if (!text) throw std::runtime_error(to_string(text.error()));
  const auto model = emit_test::z3_model(*text);
  if (!model) return std::nullopt;
  Schedule schedule;
  schedule.initiation_interval = shape.ii;
  for (const problem::Op& op : problem.ops()) {
    schedule::Placement at;
    while (!model->contains(fmt::format("op!{}!0!{}", op.name, at.issue))) ++at.issue;
    for (std::size_t w = 0; w < problem.groups().size(); ++w) {
      if (model->contains(fmt::format("opw!{}!{}", op.name, problem.groups()[w].name))) {
        at.group = schedule::GroupId(w);
      }
    }
    schedule.ops.push_back(at);
  }
  return schedule;
}

/// Finds the first interval at which Algorithm 1 of the paper ends.
Cycles paper_interval(const Problem& problem) {
  for (Cycles ii = schedule::min_ii(problem).value;; ++ii) {
    const auto shortest = driver::modulo_length(problem, ii);
    if (!shortest) continue;
    for (Cycles length = *shortest; length <= *driver::longest_tried(problem, ii); ++length) {
      if (literal_solution(problem, {ii, length})) return ii;
    }
  }
}

Problem normalized(const Problem& problem, Cycles budget) {
  auto done = problem::normalize(problem, {budget, problem::NormalForm::repaired});
  if (!done) throw std::runtime_error(to_string(done.error()));
  return std::move(done->problem);
}

/// Changes lifetimes to end at the reader's issue, as in the paper, and drops the rules about
/// waiting. The two models then differ only in how they count copies.
Problem with_lifetimes_of_the_paper(const Problem& problem) {
  return changed(problem, [](problem::Parts& parts) {
    for (problem::Dependence& it : parts.dependences) it.read_hold = 0;
    parts.relaxed = {problem::Rule::blocking, problem::Rule::one_stream};
  });
}

/// Name of the rule of all violations of the schedule, or "".
std::string rule_broken(const Problem& problem, const Schedule& schedule) {
  const auto checked = verify::verify(problem, schedule);
  if (checked) return "";
  std::set<std::string> rules;
  for (const auto& violation : checked.error()) rules.insert(violation.rule);
  return rules.size() == 1 ? *rules.begin() : "several";
}

// Protects: one execution of the steady state misses values of earlier iterations. The figures
// accept a schedule with three live registers of two. The checker names the rule, the group and the
// cycle.
TEST(PaperUnderCounts, ASmallLoop) {
  const schedule::LoopText loop = loop_text("paper/undercounted");
  EXPECT_EQ(paper_interval(loop.problem), 3);
  EXPECT_EQ(optimal_interval(loop.problem), 4);
  const auto accepted = literal_solution(loop.problem, {3, 6});
  ASSERT_TRUE(accepted);
  EXPECT_EQ(*accepted, *loop.schedule);  // the only schedule
  const auto checked = verify::verify(loop.problem, *accepted);
  ASSERT_FALSE(checked);
  ASSERT_EQ(checked.error().size(), 1U);
  EXPECT_EQ(checked.error()[0].rule, "registers");
  EXPECT_NE(checked.error()[0].message.find("3 live in the registers of group G at cycle 6"),
            std::string::npos);
}

// Protects the same on a real loop, Flash Attention backward on Hopper, whose dV and dK are
// accumulated in registers. Every interval from MinII to just below the optimum is tried.
TEST(PaperUnderCounts, FlashAttentionBackwardOnHopper) {
  const Problem problem = with_lifetimes_of_the_paper(normalized(loop_text("bwd_h1").problem, 136));
  const Cycles least = schedule::min_ii(problem).value;
  const Cycles optimum = optimal_interval(problem);
  EXPECT_LT(least, optimum);
  for (const Cycles ii : {least, optimum - 1}) {
    const auto accepted = literal_solution(problem, {ii, *driver::longest_tried(problem, ii)});
    ASSERT_TRUE(accepted) << ii;
    EXPECT_EQ(rule_broken(problem, *accepted), "registers") << ii;
  }
}

// Protects: the paper's search keeps the number of stages of a shortest modulo schedule. This
// loop's optimum needs one stage more. The figures accept the optimum at L = 9, but the search
// never gets there.
TEST(PaperMissesAStage, ASmallLoop) {
  const Problem problem = loop_text("paper/third_stage").problem;
  const Schedule optimum = paper_test::optimum_of(problem);
  EXPECT_EQ(optimum.initiation_interval, 3);
  EXPECT_EQ(schedule::stage_count(problem, optimum), 3);
  EXPECT_EQ(driver::longest_tried(problem, 3), 6);
  EXPECT_TRUE(literal_solution(problem, {3, 9}));
  EXPECT_EQ(paper_interval(problem), 4);
}

// Protects the same for Flash Attention forward on Blackwell. A longer L adds idle cycles at the
// end and no live values, so the longest tried L stands for all.
TEST(PaperMissesAStage, FlashAttentionForwardOnBlackwell) {
  const Problem problem = normalized(loop_text("fwd_b1").problem, 210);
  const Schedule optimum = paper_test::optimum_of(problem);
  const Cycles ii = optimum.initiation_interval;
  EXPECT_EQ(schedule::stage_count(problem, optimum), 3);
  EXPECT_EQ(driver::longest_tried(problem, ii), 2 * ii);
  EXPECT_FALSE(literal_solution(problem, {ii, 2 * ii}));
}

/// Whether Twill's rules have a schedule at `ii` that is over after two intervals.
std::optional<bool> has_two_stages(const Problem& problem, Cycles ii) {
  std::string bound;
  for (const problem::Op& op : problem.ops()) {
    bound += fmt::format("(assert (<= (+ (* {} stage!{}) slot!{} {}) {}))\n", ii, op.name, op.name,
                         problem::span_of(op.alternatives[0]), 2 * ii);
  }
  return emit_test::z3_answer(emit::smtlib(problem, ii), bound, 200'000'000);
}

// Protects the price of the missed stage: 10.5 % for that loop, at raw cycles, by Twill's rules.
TEST(PaperMissesAStage, CostsTenPercentAtRawCycles) {
  const Problem problem = loop_text("fwd_b1").problem;
  EXPECT_EQ(optimal_interval(problem), 1676);
  EXPECT_EQ(driver::longest_tried(problem, 1676), 2 * 1676);
  EXPECT_EQ(has_two_stages(problem, 1676), false);
  EXPECT_EQ(has_two_stages(problem, 1851), false);
  EXPECT_EQ(has_two_stages(problem, 1852), true);
}

// Protects: by Figure 5, a value used in the cycle in which it is made is live from the first cycle
// on.
TEST(PaperLiveness, UseInTheCycleOfTheDefinition) {
  const Problem problem = loop_text("paper/same_cycle").problem;
  EXPECT_EQ(optimal_interval(problem), 3);
  EXPECT_EQ(paper_interval(problem), 4);
}

// Protects: concurrency with the whole duration of an asynchronous op stops its warps needlessly.
TEST(PaperConcurrency, StopsWarpsForAWholeProduct) {
  const Problem problem = loop_text("paper/long_product").problem;
  EXPECT_EQ(optimal_interval(problem), 8);
  EXPECT_EQ(paper_interval(problem), 9);
}

// Protects the price of that rule: 40 % on Flash Attention backward on Blackwell, with the engine
// on both.
TEST(PaperConcurrency, CostsFortyPercentOnFlashAttentionBackward) {
  const Problem problem = loop_text("bwd_b2").problem;
  const Problem whole = changed(problem, [](problem::Parts& parts) {
    for (problem::Op& op : parts.ops) op.alternatives[0].issue = op.alternatives[0].occupancy;
  });
  EXPECT_EQ(optimal_interval(problem), 2560);
  EXPECT_EQ(optimal_interval(whole), 3584);
}

// Protects: the least error does not depend on the budget. With 33 times the room it is the same.
TEST(PaperNormalization, MoreRoomDoesNotHelp) {
  for (const char* loop : {"fwd_b1", "fwd_b2"}) {
    const Problem problem = loop_text(loop).problem;
    const auto small = problem::normalize(problem, {300, problem::NormalForm::paper});
    const auto large = problem::normalize(problem, {10'000, problem::NormalForm::paper});
    ASSERT_TRUE(small && large);
    EXPECT_EQ(small->costs, large->costs) << loop;
  }
}

struct Collapse {
  std::string loop;
  bool reaches_min_ii;  ///< with the paper's costs, but not with its own
};

class Normalization : public testing::TestWithParam<Collapse> {};

// Protects: U = 300, as in the paper, takes most costs of real loops to zero, and the optimum to a
// few cycles. On some loops the verdict changes: MinII seems to be reached.
TEST_P(Normalization, CollapsesInThePapersForm) {
  const Problem problem = loop_text(GetParam().loop).problem;
  const auto paper = problem::normalize(problem, {300, problem::NormalForm::paper});
  ASSERT_TRUE(paper);
  std::int64_t lost = 0;
  std::int64_t all = 0;
  for (const auto& cost : paper->costs) {
    all += cost.uses;
    lost += cost.after == 0 ? cost.uses : 0;
  }
  EXPECT_GT(lost, all / 2);
  EXPECT_LT(optimal_interval(paper->problem), 6);
  const auto at_min_ii = [](const Problem& it) {
    return optimal_interval(it) == schedule::min_ii(it).value;
  };
  EXPECT_EQ(!at_min_ii(problem) && at_min_ii(paper->problem), GetParam().reaches_min_ii);
}

// Protects: the repaired form, with the same room in all, keeps every cost, and the verdict.
TEST_P(Normalization, DoesNotInTheRepairedForm) {
  const Problem problem = loop_text(GetParam().loop).problem;
  const auto repaired = problem::normalize(problem, {1000, problem::NormalForm::repaired});
  ASSERT_TRUE(repaired);
  for (const auto& cost : repaired->costs) EXPECT_GE(cost.after, 1);
  EXPECT_TRUE(std::isfinite(problem::distortion_of(repaired->costs)));
  const auto slowdown = [](const Problem& it) {
    return static_cast<double>(optimal_interval(it)) /
           static_cast<double>(schedule::min_ii(it).value);
  };
  EXPECT_NEAR(slowdown(repaired->problem), slowdown(problem), 0.02);
}

INSTANTIATE_TEST_SUITE_P(Loops, Normalization,
                         testing::Values(Collapse{"fwd_h1", false}, Collapse{"fwd_h2", false},
                                         Collapse{"bwd_h1", true}, Collapse{"bwd_h2", false},
                                         Collapse{"fwd_b1", true}, Collapse{"fwd_b2", false},
                                         Collapse{"fwd_b2_2wg", true}),
                         [](const auto& it) { return it.param.loop; });

}  // namespace
}  // namespace twill
