// Parts of the checker, one by one.

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "twill/certify/differences.h"
#include "twill/certify/unit_propagation.h"

namespace twill::certify {
namespace {

Literal literal(int number) {
  return number > 0 ? static_cast<Literal>(2 * number) : static_cast<Literal>(-2 * number + 1);
}

std::vector<Literal> literals(const std::vector<int>& numbers) {
  std::vector<Literal> out;
  for (const int number : numbers) out.push_back(literal(number));
  return out;
}

TEST(UnitPropagation, FindsContradictionsAndWhatTheyRestOn) {
  UnitPropagation clauses;
  for (int i = 0; i < 4; ++i) clauses.add_variable();
  const auto a = clauses.add(literals({-1, 2}));
  const auto b = clauses.add(literals({-2, 3}));
  clauses.add(literals({-3, 4}));
  const auto c = clauses.add(literals({-1, -3}));
  EXPECT_TRUE(clauses.assume(literals({2})));
  clauses.release();
  EXPECT_FALSE(clauses.assume(literals({1})));
  std::vector<UnitPropagation::Clause> why;
  clauses.trace_contradiction(why);
  std::sort(why.begin(), why.end());
  EXPECT_EQ(why, (std::vector{a, b, c}));
  clauses.release();
  clauses.remove(b);
  EXPECT_TRUE(clauses.assume(literals({1})));
  clauses.release();
  EXPECT_FALSE(clauses.is_contradictory());
}

TEST(UnitPropagation, WhatIsTrueForGoodStaysTrue) {
  UnitPropagation clauses;
  for (int i = 0; i < 2; ++i) clauses.add_variable();
  clauses.add(literals({1}));
  const auto reason = clauses.add(literals({-1, 2}));
  EXPECT_TRUE(clauses.is_true(literal(2)));
  clauses.remove(reason);
  EXPECT_FALSE(clauses.assume(literals({-2})));
  clauses.release();
  clauses.add(literals({-2}));
  EXPECT_TRUE(clauses.is_contradictory());
}

/// Whether some values satisfy the differences, by enumeration.
bool satisfiable(const std::vector<Difference>& differences, std::size_t nodes,
                 std::int64_t range) {
  std::vector<std::int64_t> values(nodes, -range);
  values[0] = 0;
  while (true) {
    bool fine = true;
    for (const Difference& it : differences) {
      fine = fine && values[it.later] - values[it.earlier] >= it.by;
    }
    if (fine) return true;
    std::size_t at = 1;  // node 0 stays: only differences matter
    while (at < nodes && ++values[at] > range) values[at++] = -range;
    if (at == nodes) return false;
  }
}

// Protects: a positive circuit is found exactly if there is one.
TEST(Differences, AgreeWithTryingAllValues) {
  std::mt19937 random(31);
  const auto pick = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  int contradictions = 0;
  for (int round = 0; round < 2000; ++round) {
    const std::size_t nodes = 4;
    std::vector<Difference> all;
    Differences fixed(nodes);
    const auto draw = [&] {
      return Difference{static_cast<std::size_t>(pick(0, 3)), static_cast<std::size_t>(pick(0, 3)),
                        pick(-2, 2)};
    };
    for (int i = pick(0, 3); i > 0; --i) {
      all.push_back(draw());
      fixed.require(all.back());
    }
    fixed.close();
    ASSERT_EQ(fixed.contradict(), !satisfiable(all, nodes, 6));
    std::vector<Difference> more;
    for (int i = pick(0, 4); i > 0; --i) more.push_back(draw());
    all.insert(all.end(), more.begin(), more.end());
    const bool contradict = fixed.contradict(more);
    ASSERT_EQ(contradict, !satisfiable(all, nodes, 12));
    contradictions += contradict ? 1 : 0;
  }
  EXPECT_GT(contradictions, 300);
}

}  // namespace
}  // namespace twill::certify
