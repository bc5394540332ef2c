// Protects the paper's sections 6.2.2 and 6.3.2 as theorems: a loop reaches MinII, and a variant
// has no schedule at that interval. The engine proves optima, and feasibility is monotone in the
// interval. So an optimum above an interval means that no schedule has that interval. loops/paper
// has the variants.

#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "paper/paper_loop.h"
#include "twill/problem/problem.h"
#include "twill/schedule/analysis.h"
#include "twill/schedule/bounds.h"

namespace twill {
namespace {

using paper_test::changed;
using paper_test::loop_text;
using paper_test::optimal_interval;
using paper_test::optimum_of;
using problem::Parts;
using problem::Problem;
using schedule::Schedule;

/// Counts groups of four warps that have an op.
std::size_t warpgroups(const Problem& problem, const Schedule& schedule) {
  std::set<std::size_t> groups;
  for (const auto& at : schedule.ops) {
    if (problem[at.group].warps == 4) groups.insert(at.group.index());
  }
  return groups.size();
}

/// Gives the first problem the name of the second.
Problem renamed(const Problem& problem, const Problem& as) {
  return changed(problem, [&](Parts& parts) { parts.name = as.name(); });
}

class Ablation : public testing::TestWithParam<std::pair<std::string, Cycles>> {};

// Protects: every ablation of section 6.2.2 asks for no more of any unit than the full machine
// does. It still has no schedule at the full machine's interval.
TEST_P(Ablation, MakesTheBestIntervalImpossible) {
  const auto& [name, optimum] = GetParam();
  const Problem baseline = loop_text("fwd_b2").problem;
  const Problem variant = loop_text("paper/" + name).problem;
  EXPECT_EQ(optimal_interval(baseline), 2064);
  EXPECT_EQ(schedule::min_ii(variant).value, 2064);
  EXPECT_EQ(optimal_interval(variant), optimum);
}

INSTANTIATE_TEST_SUITE_P(Section622, Ablation,
                         testing::Values(std::pair("fwd_b2_fewer_warps", 2422),
                                         std::pair("fwd_b2_no_subtiling", 4253),
                                         std::pair("fwd_b2_no_crossing", 2422)),
                         [](const auto& it) { return it.param.first; });

// Protects: each variant is fwd_b2 with the one change that its name says.
TEST(Section622, VariantsDifferInOneThing) {
  const Problem baseline = loop_text("fwd_b2").problem;
  const Problem fewer = loop_text("paper/fwd_b2_fewer_warps").problem;
  EXPECT_EQ(fewer,
            renamed(changed(baseline, [](Parts& parts) { parts.groups.pop_back(); }), fewer));
  const Problem apart = loop_text("paper/fwd_b2_no_crossing").problem;
  EXPECT_EQ(apart, renamed(changed(baseline,
                                   [](Parts& parts) {
                                     for (auto& it : parts.dependences) {
                                       if (it.transfer > 0) it.transfer = 1'000'000;
                                     }
                                   }),
                           apart));
}

// Protects: the tile of 256 rows is the work of fwd_b2's two sub-tiles, unit by unit.
TEST(Section622, TheLargeTileIsTheSameWork) {
  const auto loads = [](const Problem& problem) {
    std::map<std::string, Cycles> sums;
    for (const auto& op : problem.ops()) {
      const problem::Alternative& alternative = op.alternatives[0];
      if (alternative.unit) sums[problem[*alternative.unit].name] += alternative.occupancy;
    }
    return sums;
  };
  EXPECT_EQ(loads(loop_text("paper/fwd_b2_no_subtiling").problem),
            loads(loop_text("fwd_b2").problem));
}

// Protects: the verdict on the large tile does not depend on the pool. It stays with two groups of
// eight warps, more than the register file holds.
TEST(Section622, TheLargeTileIsSlowerWithMoreWarpsThanThereAre) {
  const Problem problem = changed(loop_text("paper/fwd_b2_no_subtiling").problem, [](Parts& parts) {
    parts.groups.back().registers = 148;
    parts.groups.push_back(parts.groups.back());
    parts.groups.back().name = "WG1";
  });
  EXPECT_EQ(optimal_interval(problem), 3892);
}

// Protects: without the rule that a wait stops its group, two warpgroups nearly reach the interval.
// So the waits cost the third warpgroup, as the paper says.
TEST(Section622, WaitsAreTheReason) {
  const Problem problem = loop_text("fwd_b2_2wg").problem;
  EXPECT_EQ(optimal_interval(problem), 2272);
  const Problem unblocked = changed(problem, [](Parts& parts) {
    parts.relaxed = {problem::Rule::blocking, problem::Rule::one_stream};
  });
  EXPECT_EQ(optimal_interval(unblocked), 2076);
}

// Protects: the reduced register budget of section 6.3.2. Two warpgroups are best with 148
// registers; with 120 they have no schedule at that interval, and three have.
TEST(Section632, FewerRegistersTakeAThirdGroup) {
  const Problem full = loop_text("bwd_b2").problem;
  const Schedule two = optimum_of(full);
  EXPECT_EQ(two.initiation_interval, 2560);
  EXPECT_EQ(warpgroups(full, two), 2U);

  const Problem reduced = loop_text("paper/bwd_b2_120_registers").problem;
  const Schedule three = optimum_of(reduced);
  EXPECT_EQ(three.initiation_interval, 2560);
  EXPECT_EQ(warpgroups(reduced, three), 3U);

  const Problem refused = loop_text("paper/bwd_b2_120_registers_2wg").problem;
  EXPECT_EQ(schedule::min_ii(refused).value, 2560);
  EXPECT_EQ(optimal_interval(refused), 2844);
}

// Protects: too few registers for two warpgroups of 148 each suffice if the groups share them,
// since one group needs more and the other less.
TEST(Section632, SharedRegistersTakeNoThirdGroup) {
  const Problem shared = loop_text("paper/bwd_b2_shared_registers_2wg").problem;
  const Schedule two = optimum_of(shared);
  EXPECT_EQ(two.initiation_interval, 2560);
  EXPECT_EQ(warpgroups(shared, two), 2U);
  const auto taken = schedule::registers_taken(shared, two, shared.register_budgets()[0]);
  EXPECT_NE(taken[0], taken[1]);
  EXPECT_LE(taken[0] + taken[1], 2 * 148);
}

// Protects the changes that make those variants.
TEST(Section632, VariantsDifferInOneThing) {
  const Problem reduced = loop_text("paper/bwd_b2_120_registers").problem;
  const auto cut = [](Parts& parts) {
    for (auto& group : parts.groups) {
      if (group.warps == 4) group.registers = 120;
    }
  };
  EXPECT_EQ(reduced, renamed(changed(loop_text("bwd_b2").problem, cut), reduced));
  const Problem two = loop_text("paper/bwd_b2_120_registers_2wg").problem;
  EXPECT_EQ(two, renamed(changed(reduced, [](Parts& parts) { parts.groups.pop_back(); }), two));
  const Problem shared = loop_text("paper/bwd_b2_shared_registers_2wg").problem;
  const auto share = [](Parts& parts) {
    problem::RegisterBudget budget{{}, 2 * (120 + 28), 8, 28};
    for (std::size_t g = 0; g < parts.groups.size(); ++g) {
      if (parts.groups[g].warps != 4) continue;
      parts.groups[g].registers = 240 - 28;
      budget.groups.emplace_back(g);
    }
    parts.register_budgets = {budget};
  };
  EXPECT_EQ(shared, renamed(changed(two, share), shared));
}

}  // namespace
}  // namespace twill
