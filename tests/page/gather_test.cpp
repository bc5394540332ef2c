#include "twill/page/gather.h"

#include <algorithm>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "solve/random_problem.h"
#include "twill/problem/problem.h"
#include "twill/schedule/analysis.h"
#include "twill/solve/solve.h"
#include "twill/verify/verify.h"

namespace twill::page {
namespace {

/// Calls `look` with outcomes that have a schedule, of many random loops.
template <class Look>
void of_random_loops(Look look) {
  int seen = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    report::Outcome outcome(solve_test::random_problem(random, {5, 2, 4, 2}));
    outcome.answer = solve::solve(outcome.problem, {});
    if (!outcome.answer.schedule || !verify::verify(outcome.problem, *outcome.answer.schedule)) {
      continue;
    }
    Material material;
    material.outcome = &outcome;
    SCOPED_TRACE("seed " + std::to_string(seed));
    look(outcome, gather(material));
    ++seen;
  }
  EXPECT_GT(seen, 100);
}

// Protects: peaks of memories and registers on the page equal those of the analysis of schedules,
// which the checker enforces.
TEST(Gather, LevelsPeakWhereTheAnalysisSays) {
  of_random_loops([](const report::Outcome& outcome, const Facts& facts) {
    const schedule::Schedule& found = *outcome.answer.schedule;
    const std::vector<Amount> registers = schedule::peak_registers(outcome.problem, found);
    for (std::size_t g = 0; g < registers.size(); ++g) {
      const std::string name = "registers of " + outcome.problem.groups()[g].name;
      const auto level = std::find_if(facts.levels.begin(), facts.levels.end(),
                                      [&](const Level& it) { return it.name == name; });
      const double peak = level == facts.levels.end() ? 0 : level->peak;
      EXPECT_EQ(peak, static_cast<double>(registers[g])) << name;
    }
  });
}

// Protects: the parts that fill a unit or pipe add up to the load that the analysis counts.
TEST(Gather, FillsAddUp) {
  of_random_loops([](const report::Outcome& outcome, const Facts& facts) {
    const schedule::Schedule& found = *outcome.answer.schedule;
    const auto total = [&](const std::string& name) {
      double sum = 0;
      for (const Fill& fill : facts.fills) {
        if (fill.name != name) continue;
        double parts = 0;
        for (const auto& part : fill.parts) parts += part.second;
        EXPECT_EQ(parts, fill.total);
        sum += fill.total;
      }
      return sum;
    };
    const std::vector<Cycles> units = schedule::unit_loads(outcome.problem, found);
    for (std::size_t u = 0; u < units.size(); ++u) {
      EXPECT_EQ(total(outcome.problem.units()[u].name), static_cast<double>(units[u]));
    }
    const std::vector<Cycles> pipes = schedule::pipe_loads(outcome.problem, found);
    for (std::size_t p = 0; p < pipes.size(); ++p) {
      EXPECT_EQ(total(outcome.problem.pipes()[p].name), static_cast<double>(pipes[p]));
    }
  });
}

// Protects: slacks of a schedule that keeps all dependences are at least 0. Moving an op by its
// slack keeps them, and one more cycle does not.
TEST(Gather, SlackIsWhatDependencesLeave) {
  of_random_loops([](const report::Outcome& outcome, const Facts& facts) {
    if (!outcome.problem.in_force(problem::Rule::dependence)) return;
    ASSERT_EQ(facts.ops.size(), outcome.problem.ops().size());
    for (std::size_t i = 0; i < facts.ops.size(); ++i) {
      if (!facts.ops[i].slack) continue;
      const bool loops =
          std::any_of(outcome.problem.dependences().begin(), outcome.problem.dependences().end(),
                      [&](const problem::Dependence& it) {
                        return it.from.index() == i && it.to.index() == i;
                      });
      if (loops) continue;  // such an op moves together with its reader
      EXPECT_GE(*facts.ops[i].slack, 0);
      for (const std::int64_t more : {0, 1}) {
        schedule::Schedule moved = *outcome.answer.schedule;
        moved.ops[i].issue += *facts.ops[i].slack + more;
        bool broken = false;
        for (const problem::Dependence& it : outcome.problem.dependences()) {
          if (it.from.index() != i) continue;
          const auto& from = moved.ops[i];
          const auto& to = moved.ops[it.to.index()];
          const problem::Op& op = outcome.problem.ops()[i];
          Cycles delay = problem::delay_of(
              it, op, op.alternatives[static_cast<std::size_t>(from.alternative)]);
          if (from.group != to.group) delay += it.transfer;
          broken =
              broken || to.issue < from.issue + delay - it.distance * moved.initiation_interval;
        }
        EXPECT_EQ(broken, more == 1) << facts.ops[i].name;
      }
    }
  });
}

// Protects: bars and arrows of the schedule's chart lie within its interval, and those of a unit
// take as long as ops hold it.
TEST(Gather, ChartKeepsToTheInterval) {
  of_random_loops([](const report::Outcome& outcome, const Facts& facts) {
    ASSERT_EQ(facts.charts.size(), 1U);
    const Chart& chart = facts.charts.front();
    const std::vector<Cycles> loads =
        schedule::unit_loads(outcome.problem, *outcome.answer.schedule);
    for (std::size_t i = 0; i < chart.lanes.size(); ++i) {
      double sum = 0;
      for (const Bar& bar : chart.lanes[i].bars) {
        EXPECT_GE(bar.begin, 0);
        EXPECT_LE(bar.end, chart.length);
        EXPECT_LE(bar.begin, bar.end);
        sum += bar.end - bar.begin;
      }
      if (chart.lanes[i].unit && outcome.problem.in_force(problem::Rule::unit)) {
        EXPECT_EQ(sum, static_cast<double>(loads[i]));
      }
    }
    for (const Arrow& arrow : chart.arrows) {
      EXPECT_GE(arrow.begin, 0);
      EXPECT_LE(arrow.end, chart.length);
    }
  });
}

// Protects: in the graph of roles each op stands below its predecessors of the iteration that are
// issued before it. No two ops of a role share a place.
TEST(Gather, GraphGoesDown) {
  of_random_loops([](const report::Outcome& outcome, const Facts& facts) {
    const Graph& graph = facts.graph;
    ASSERT_EQ(graph.nodes.size(), facts.ops.size());
    EXPECT_EQ(graph.edges.size(), outcome.problem.dependences().size());
    for (const Graph::Edge& edge : graph.edges) {
      const auto issue = [&](std::size_t op) { return outcome.answer.schedule->ops[op].issue; };
      if (edge.distance > 0 || issue(edge.from) >= issue(edge.to)) continue;
      EXPECT_LT(graph.nodes[edge.from].row, graph.nodes[edge.to].row);
    }
    for (std::size_t a = 0; a < graph.nodes.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const Graph::Node& one = graph.nodes[a];
        const Graph::Node& other = graph.nodes[b];
        EXPECT_FALSE(one.column == other.column && one.row == other.row);
      }
    }
  });
}

// Protects: a loop without a schedule has a page that says so, and the page shows no schedule.
TEST(Gather, SaysThatThereIsNoSchedule) {
  std::mt19937 random(1);
  report::Outcome outcome(solve_test::random_problem(random, {4, 2, 3, 1}));
  outcome.answer.verdict = schedule::Verdict::infeasible;
  outcome.answer.argument = "registers are too few";
  Material material;
  material.outcome = &outcome;
  const Facts facts = gather(material);
  EXPECT_EQ(facts.verdict, "registers are too few");
  EXPECT_TRUE(facts.charts.empty());
  EXPECT_TRUE(facts.figures.empty());
}

}  // namespace
}  // namespace twill::page
