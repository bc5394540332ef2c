#include "twill/problem/normalize.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "twill/problem/problem.h"

namespace twill::problem {
namespace {

/// Makes a chain of ops on one unit with these occupancies; ops have no other demands.
Problem with_costs(const std::vector<Cycles>& costs) {
  Parts parts;
  parts.name = "costs";
  parts.units = {{"U"}};
  parts.groups = {{.name = "G"}};
  for (std::size_t i = 0; i < costs.size(); ++i) {
    Alternative alternative;
    alternative.unit = UnitId(0);
    alternative.occupancy = costs[i];
    Op op;
    op.name = "op" + std::to_string(i);
    op.alternatives = {alternative};
    parts.ops.push_back(std::move(op));
  }
  return *pose(std::move(parts));
}

/// F of the paper for x.
Cycles error_of(const std::vector<CostChange>& costs, const std::vector<Cycles>& x) {
  Cycles error = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < x.size(); ++j) {
      error = std::max(error, std::abs(costs[i].before * x[j] - costs[j].before * x[i]));
    }
  }
  return error;
}

std::vector<Cycles> images(const std::vector<CostChange>& costs) {
  std::vector<Cycles> x;
  for (const CostChange& cost : costs) x.push_back(cost.after);
  return x;
}

/// Calls `use` with every x whose sum is at most `budget`. A cost counts as often as `uses` says.
template <class Use>
void for_each_x(const std::vector<CostChange>& costs, bool uses, Cycles budget, Use use) {
  std::vector<Cycles> x(costs.size(), 0);
  const auto fill = [&](const auto& self, std::size_t i, Cycles left) -> void {
    if (i == x.size()) return use(x);
    const Cycles weight = uses ? costs[i].uses : 1;
    for (x[i] = 0; x[i] * weight <= left; ++x[i]) self(self, i + 1, left - x[i] * weight);
    x[i] = 0;
  };
  fill(fill, 0, budget);
}

std::vector<Cycles> drawn(std::mt19937& random) {
  std::vector<Cycles> costs;
  for (unsigned i = 0; i < 2 + random() % 4; ++i) costs.push_back(1 + Cycles(random() % 30));
  return costs;
}

// Protects: the paper's integer program is solved to the optimum. Trying every integer vector with
// an allowed sum finds no smaller F.
TEST(Normalize, PaperFormHasTheLeastError) {
  std::mt19937 random(1);
  int collapsed = 0;
  for (int round = 0; round < 150; ++round) {
    const Problem problem = with_costs(drawn(random));
    const Cycles budget = 8 + round % 8;
    const auto found = normalize(problem, {budget, NormalForm::paper});
    ASSERT_TRUE(found);
    std::optional<Cycles> least;
    for_each_x(found->costs, true, budget, [&](const std::vector<Cycles>& x) {
      const bool zero = std::all_of(x.begin(), x.end(), [](Cycles it) { return it == 0; });
      if (!zero) least = std::min(least.value_or(1'000'000), error_of(found->costs, x));
    });
    EXPECT_EQ(error_of(found->costs, images(found->costs)), least);
    if (images(found->costs).front() == 0) ++collapsed;
  }
  EXPECT_GT(collapsed, 10);
}

// Protects: in the repaired form positive costs stay positive and distinct costs distinct, with the
// least distortion of all such forms.
TEST(Normalize, RepairedFormHasTheLeastDistortion) {
  std::mt19937 random(2);
  for (int round = 0; round < 150; ++round) {
    const Problem problem = with_costs(drawn(random));
    const Cycles budget = 15 + round % 4;
    const auto found = normalize(problem, {budget, NormalForm::repaired});
    ASSERT_TRUE(found);
    double least = 1e9;
    for_each_x(found->costs, false, budget, [&](const std::vector<Cycles>& x) {
      auto costs = found->costs;
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (x[i] < 1 || (i > 0 && x[i] <= x[i - 1])) return;
        costs[i].after = x[i];
      }
      least = std::min(least, distortion_of(costs));
    });
    EXPECT_NEAR(distortion_of(found->costs), least, 1e-9);
    const std::vector<Cycles> x = images(found->costs);
    EXPECT_GE(x.front(), 1);
    EXPECT_TRUE(std::adjacent_find(x.begin(), x.end(), std::greater_equal<>()) == x.end());
  }
}

// Protects: every kind of duration is replaced, zeros stay, and an op that lost its cycles leaves
// its unit.
TEST(Normalize, ReplacesEveryDuration) {
  Parts parts = with_costs({1000, 10}).parts();
  parts.pipes = {{"P"}};
  Alternative& alternative = parts.ops[0].alternatives[0];
  alternative.latency = 2000;
  alternative.issue = 10;
  alternative.pipes = {{PipeId(0), 500}};
  Dependence it;
  it.from = OpId(0);
  it.to = OpId(1);
  it.delay = 3000;
  it.read_hold = 0;
  it.transfer = 1500;
  parts.dependences = {it};
  const auto found = normalize(*pose(parts), {20, NormalForm::paper});
  ASSERT_TRUE(found);
  const Alternative& first = found->problem.ops()[0].alternatives[0];
  EXPECT_EQ(first.occupancy, 2);
  EXPECT_EQ(first.latency, 4);
  EXPECT_EQ(first.issue, 0);
  EXPECT_EQ(first.pipes[0].demand, 1);
  EXPECT_EQ(found->problem.ops()[1].alternatives[0].occupancy, 0);
  EXPECT_FALSE(found->problem.ops()[1].alternatives[0].unit);
  const Dependence& dependence = found->problem.dependences()[0];
  EXPECT_EQ(dependence.delay, 6);
  EXPECT_EQ(dependence.read_hold, 0);
  EXPECT_EQ(dependence.transfer, 3);
  EXPECT_TRUE(std::isinf(distortion_of(found->costs)));
  EXPECT_NE(in_words({20, NormalForm::paper}, found->costs).find("2 of 7 positive costs became 0"),
            std::string::npos);
}

// Protects: an impossible budget is refused in either form, and a Problem without costs is
// accepted.
TEST(Normalize, RefusesBudgetsThatAreTooSmall) {
  EXPECT_FALSE(normalize(with_costs({5}), {0, NormalForm::paper}));
  EXPECT_FALSE(normalize(with_costs({5}), {kLargestBudget + 1, NormalForm::paper}));
  EXPECT_FALSE(normalize(with_costs({5, 5, 5}), {2, NormalForm::paper}));
  EXPECT_FALSE(normalize(with_costs({5, 7, 9}), {5, NormalForm::repaired}));
  EXPECT_TRUE(normalize(with_costs({5, 7, 9}), {6, NormalForm::repaired}));
  EXPECT_TRUE(normalize(with_costs({5, 5, 5}), {1, NormalForm::repaired}));
  Parts empty = with_costs({1}).parts();
  empty.ops[0].alternatives[0] = Alternative{};
  EXPECT_EQ(normalize(*pose(empty), {1, NormalForm::paper})->problem, *pose(empty));
}

}  // namespace
}  // namespace twill::problem
