#include "twill/solve/engine.h"

#include <algorithm>
#include <random>
#include <sstream>

#include <gtest/gtest.h>

#include "solve/proof_checker.h"

namespace twill::solve {
namespace {

Budget unlimited() { return Budget(~std::uint64_t{0}, ~std::size_t{0}); }

// Protects the meaning of the three kinds of constraints on the smallest cases.
TEST(Engine, ClausesAlone) {
  Engine engine;
  Budget budget = unlimited();
  const Literal a = engine.add_literal();
  const Literal b = engine.add_literal();
  engine.add_clause({a, b});
  engine.add_clause({~a, b});
  ASSERT_EQ(engine.solve(kTrue, budget), Outcome::satisfied);
  EXPECT_TRUE(engine.value(b));
  EXPECT_EQ(engine.solve(~b, budget), Outcome::refuted);
  EXPECT_EQ(engine.solve(b, budget), Outcome::satisfied);  // the assumption is gone again
  engine.add_clause({a, ~b});
  engine.add_clause({~a, ~b});
  EXPECT_EQ(engine.solve(kTrue, budget), Outcome::refuted);
}

// Protects the tables of distances, which are separate for each block of nodes. No block affects
// another, wherever its nodes stand, and a conflict is found in each.
TEST(Engine, BlocksOfNodesAreApart) {
  Engine engine;
  std::vector<Node> nodes;
  for (int block = 0; block < 3; ++block) {
    engine.begin_block();
    for (int i = 0; i <= block; ++i) nodes.push_back(engine.add_node());
  }
  const Literal second = engine.at_least({nodes[2], nodes[1], 4});
  const Literal third = engine.at_least({nodes[5], nodes[3], 7});
  engine.require({nodes[4], nodes[3], 3});
  engine.require({nodes[5], nodes[4], 4});
  EXPECT_EQ(engine.implied_atom({nodes[5], nodes[3], 7}), third);
  EXPECT_EQ(engine.implied_atom({nodes[5], nodes[1], 7}), std::nullopt);
  Budget budget = unlimited();
  ASSERT_EQ(engine.solve(~second, budget), Outcome::satisfied);
  EXPECT_TRUE(engine.value(third));
  EXPECT_LT(engine.value(nodes[2]) - engine.value(nodes[1]), 4);
  EXPECT_GE(engine.value(nodes[5]) - engine.value(nodes[3]), 7);
  EXPECT_EQ(engine.solve(~third, budget), Outcome::refuted);
  engine.require({nodes[1], nodes[2], -3});
  EXPECT_EQ(engine.solve(second, budget), Outcome::refuted);
  EXPECT_EQ(engine.solve(kTrue, budget), Outcome::satisfied);
}

// Protects facts passed from one engine to another: a difference without an atom is expressed by
// the next weaker atom, in both directions. Without a weaker atom it is dropped; a clause from
// outside counts as learned.
TEST(Engine, SpeaksOfDifferencesInOtherWords) {
  Engine engine;
  const Node x = engine.add_node();
  const Node y = engine.add_node();
  EXPECT_FALSE(engine.implied_atom({x, y, 7}).has_value());
  const Literal five = engine.at_least({x, y, 5});
  const Literal nine = engine.at_least({x, y, 9});
  EXPECT_EQ(engine.implied_atom({x, y, 9}), nine);
  EXPECT_EQ(engine.implied_atom({x, y, 8}), five);
  EXPECT_EQ(engine.implied_atom({x, y, 4}), std::nullopt);
  EXPECT_EQ(engine.implied_atom({y, x, -4}), ~five);  // x - y <= 4
  EXPECT_EQ(engine.implied_atom({y, x, -5}), ~nine);
  EXPECT_EQ(engine.implied_atom({y, x, -9}), std::nullopt);
  EXPECT_EQ(engine.difference_of(~five)->bound, -4);
  EXPECT_FALSE(engine.difference_of(kTrue).has_value());

  const Literal other = engine.add_literal();
  engine.add_learned(std::vector{five, other}, 2);
  std::vector<std::size_t> sizes;
  engine.each_learned(
      [&](std::span<const Literal> it, std::uint32_t) { sizes.push_back(it.size()); });
  EXPECT_EQ(sizes, (std::vector<std::size_t>{2, 1}));  // the remaining literal is the constant true
  Budget budget = unlimited();
  engine.add_clause({~other});
  ASSERT_EQ(engine.solve(kTrue, budget), Outcome::satisfied);
  EXPECT_TRUE(engine.value(five));
}

TEST(Engine, SameDifferenceIsSameLiteral) {
  Engine engine;
  const Node x = engine.add_node();
  const Node y = engine.add_node();
  const Literal late = engine.at_least({x, y, 5});
  EXPECT_EQ(late, engine.at_least({x, y, 5}));
  EXPECT_EQ(~late, engine.at_least({y, x, -4}));  // x - y <= 4
  EXPECT_EQ(engine.at_least({x, x, 0}), kTrue);
  EXPECT_EQ(engine.at_least({x, x, 1}), kFalse);
}

TEST(Engine, DifferencesPropagateThroughChains) {
  Engine engine;
  Budget budget = unlimited();
  const Node a = engine.add_node();
  const Node b = engine.add_node();
  const Node c = engine.add_node();
  engine.require({b, a, 3});
  const Literal far = engine.at_least({c, a, 7});
  const Literal step = engine.at_least({c, b, 4});
  engine.add_clause({step});
  EXPECT_EQ(engine.solve(~far, budget), Outcome::refuted);
  ASSERT_EQ(engine.solve(kTrue, budget), Outcome::satisfied);
  EXPECT_GE(engine.value(c) - engine.value(a), 7);
}

TEST(Engine, AtMostCountsWeights) {
  Engine engine;
  Budget budget = unlimited();
  const Literal a = engine.add_literal();
  const Literal b = engine.add_literal();
  const Literal c = engine.add_literal();
  const std::vector<Term> terms = {{3, a}, {2, b}, {2, c}};
  engine.add_at_most(terms, 4);
  engine.add_clause({b, c});
  EXPECT_EQ(engine.solve(a, budget), Outcome::refuted);
  engine.add_clause({b});
  engine.add_clause({c});
  EXPECT_EQ(engine.solve(kTrue, budget), Outcome::satisfied);
}

// Protects: an exhausted budget is not mistaken for a refutation, and is exhausted at the same
// work.
TEST(Engine, BudgetStopsPigeons) {
  const auto pigeons = [](Budget& budget) {
    Engine engine;
    constexpr int kHoles = 9;
    std::vector<std::vector<Literal>> in(kHoles + 1);
    for (auto& pigeon : in) {
      for (int hole = 0; hole < kHoles; ++hole) pigeon.push_back(engine.add_literal());
      engine.add_clause(pigeon);
    }
    for (std::size_t hole = 0; hole < kHoles; ++hole) {
      for (std::size_t i = 0; i <= kHoles; ++i) {
        for (std::size_t j = 0; j < i; ++j) engine.add_clause({~in[i][hole], ~in[j][hole]});
      }
    }
    return engine.solve(kTrue, budget);
  };
  Budget first(100'000, ~std::size_t{0});
  Budget second(100'000, ~std::size_t{0});
  EXPECT_EQ(pigeons(first), Outcome::stopped);
  EXPECT_EQ(pigeons(second), Outcome::stopped);
  EXPECT_EQ(first.work(), second.work());
  EXPECT_EQ(first.conflicts(), second.conflicts());
  Budget tiny_memory(~std::uint64_t{0}, 1000);
  EXPECT_EQ(pigeons(tiny_memory), Outcome::stopped);
  Budget cancelled(~std::uint64_t{0}, ~std::size_t{0}, [] { return false; });
  EXPECT_EQ(pigeons(cancelled), Outcome::stopped);
}

/// Random system over booleans and nodes with values 0..kTop, small enough for an enumeration.
struct RandomSystem {
  static constexpr int kBools = 4;
  static constexpr int kNodes = 4;
  static constexpr std::int64_t kTop = 4;
  struct Lit {
    int boolean;  ///< number, or -1 for a difference
    int x, y;
    std::int64_t bound;
    bool negative;
  };
  std::vector<std::vector<Lit>> clauses;
  std::vector<std::pair<std::int64_t, std::vector<std::pair<std::int64_t, Lit>>>> sums;

  explicit RandomSystem(std::mt19937& random) {
    const auto pick = [&](int low, int high) {
      return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
    };
    const auto literal = [&] {
      Lit lit{-1, 0, 0, 0, pick(0, 1) == 1};
      if (pick(0, 3) == 0) {
        lit.boolean = pick(0, kBools - 1);
      } else {
        lit.x = pick(0, kNodes - 1);
        lit.y = (lit.x + pick(1, kNodes - 1)) % kNodes;
        lit.bound = pick(-3, 3);
      }
      return lit;
    };
    for (int i = pick(8, 26); i > 0; --i) {
      auto& clause = clauses.emplace_back();
      for (int size = pick(2, 3); size > 0; --size) clause.push_back(literal());
    }
    for (int i = pick(0, 3); i > 0; --i) {
      auto& [bound, terms] = sums.emplace_back();
      for (int boolean = 0; boolean < kBools; ++boolean) {
        terms.push_back({pick(1, 4), {boolean, 0, 0, 0, pick(0, 1) == 1}});
      }
      bound = pick(1, 8);
    }
  }

  static bool holds(const Lit& lit, unsigned bools, const std::vector<std::int64_t>& nodes) {
    const bool positive = lit.boolean >= 0 ? ((bools >> lit.boolean) & 1U) != 0
                                           : nodes[static_cast<std::size_t>(lit.x)] -
                                                     nodes[static_cast<std::size_t>(lit.y)] >=
                                                 lit.bound;
    return positive != lit.negative;
  }

  bool holds(unsigned bools, const std::vector<std::int64_t>& nodes) const {
    for (const auto& clause : clauses) {
      if (std::none_of(clause.begin(), clause.end(),
                       [&](const Lit& lit) { return holds(lit, bools, nodes); })) {
        return false;
      }
    }
    for (const auto& [bound, terms] : sums) {
      std::int64_t sum = 0;
      for (const auto& [weight, lit] : terms) sum += holds(lit, bools, nodes) ? weight : 0;
      if (sum > bound) return false;
    }
    return true;
  }

  bool satisfiable() const {
    for (int code = 0; code < 5 * 5 * 5 * 5; ++code) {
      std::vector<std::int64_t> nodes;
      for (int rest = code, i = 0; i < kNodes; ++i, rest /= 5) nodes.push_back(rest % 5);
      for (unsigned bools = 0; bools < 16; ++bools) {
        if (holds(bools, nodes)) return true;
      }
    }
    return false;
  }
};

/// Engine that contains the system.
struct Loaded {
  Engine engine;
  std::vector<Literal> bools;
  std::vector<Node> nodes;

  Loaded(const RandomSystem& system, ProofSink* proof) : engine(proof, "random") {
    for (int i = 0; i < RandomSystem::kBools; ++i) bools.push_back(engine.add_literal());
    const Node zero = engine.add_node();
    for (int i = 0; i < RandomSystem::kNodes; ++i) nodes.push_back(engine.add_node());
    for (const Node node : nodes) {
      engine.require({node, zero, 0});
      engine.require({zero, node, -RandomSystem::kTop});
    }
    for (const auto& clause : system.clauses) {
      std::vector<Literal> literals;
      for (const auto& lit : clause) literals.push_back(literal(lit));
      engine.add_clause(literals);
    }
    add_sums(system);
  }

  void add_sums(const RandomSystem& system) {
    for (const auto& [bound, terms] : system.sums) {
      std::vector<Term> weighted;
      for (const auto& [weight, lit] : terms) weighted.push_back({weight, literal(lit)});
      engine.add_at_most(weighted, bound);
    }
  }

  Literal literal(const RandomSystem::Lit& lit) {
    const auto x = static_cast<std::size_t>(lit.x);
    const auto y = static_cast<std::size_t>(lit.y);
    const Literal positive = lit.boolean >= 0 ? bools[static_cast<std::size_t>(lit.boolean)]
                                              : engine.at_least({nodes[x], nodes[y], lit.bound});
    return lit.negative ? ~positive : positive;
  }
};

// Protects soundness and completeness of the engine, its models and its proofs, against an
// enumeration. A clause learned from too weak an explanation shows as a proof step that does not
// follow.
TEST(Engine, AgreesWithBruteForceAndProvesIt) {
  std::mt19937 random(7);
  int refuted = 0;
  for (int round = 0; round < 1500; ++round) {
    const RandomSystem system(random);
    std::ostringstream text;
    TextProof proof(text);
    Loaded loaded(system, &proof);
    Budget budget = unlimited();
    const Outcome outcome = loaded.engine.solve(kTrue, budget);
    ASSERT_EQ(outcome == Outcome::satisfied, system.satisfiable()) << "round " << round;
    if (outcome == Outcome::satisfied) {
      unsigned bools = 0;
      for (std::size_t i = 0; i < loaded.bools.size(); ++i) {
        if (loaded.engine.value(loaded.bools[i])) bools |= 1U << i;
      }
      std::vector<std::int64_t> nodes;
      for (const Node node : loaded.nodes) nodes.push_back(loaded.engine.value(node));
      EXPECT_TRUE(system.holds(bools, nodes)) << "round " << round;
    } else {
      ++refuted;
    }
    solve_test::ProofChecker checker;
    std::istringstream lines(text.str());
    ASSERT_EQ(checker.check(lines), "") << "round " << round << "\n" << text.str();
    EXPECT_EQ(checker.refutations(), outcome == Outcome::refuted ? 1 : 0);
  }
  EXPECT_GT(refuted, 200);
  EXPECT_LT(refuted, 1300);
}

// Protects: a search under other assumptions, with the clauses learned before, gives the same
// answers as a fresh engine.
TEST(Engine, AssumptionsLeaveNothingBehind) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    const RandomSystem system(random);
    std::ostringstream text;
    TextProof proof(text);
    Loaded kept(system, &proof);
    for (int query = 0; query < 6; ++query) {
      Literal assumption = kept.bools[random() % kept.bools.size()];
      if (random() % 2 == 0) assumption = ~assumption;
      Budget budget = unlimited();
      const Outcome outcome = kept.engine.solve(assumption, budget);
      Loaded fresh(system, nullptr);
      fresh.engine.add_clause({assumption});
      ASSERT_EQ(outcome, fresh.engine.solve(kTrue, budget)) << "round " << round;
    }
    solve_test::ProofChecker checker;
    std::istringstream lines(text.str());
    ASSERT_EQ(checker.check(lines), "") << "round " << round;
  }
}

// Protects constraints that are added between searches, also after a stopped search. The last
// implications of a stopped search are no consequences of the next constraint.
TEST(Engine, ConstraintsMayComeBetweenSearches) {
  std::mt19937 random(13);
  int stopped = 0;
  int refuted = 0;
  for (int round = 0; round < 1000; ++round) {
    RandomSystem all(random);
    std::ostringstream text;
    TextProof proof(text);
    Loaded kept(all, &proof);
    Budget budget = unlimited();
    for (int part = 0; part < 4; ++part) {
      const RandomSystem more(random);
      stopped += kept.engine.solve(kTrue, budget, {1}) == Outcome::stopped ? 1 : 0;
      all.sums.insert(all.sums.end(), more.sums.begin(), more.sums.end());
      kept.add_sums(more);
    }
    const Outcome outcome = kept.engine.solve(kTrue, budget);
    ASSERT_EQ(outcome == Outcome::satisfied, all.satisfiable()) << "round " << round;
    refuted += outcome == Outcome::refuted ? 1 : 0;
    solve_test::ProofChecker checker;
    std::istringstream lines(text.str());
    ASSERT_EQ(checker.check(lines), "") << "round " << round;
  }
  EXPECT_GT(stopped, 300);
  EXPECT_GT(refuted, 200);
  EXPECT_LT(refuted, 900);
}

// Protects the checker itself, which must refuse a proof that skips a step.
TEST(ProofChecker, RefusesWhatDoesNotFollow) {
  const auto verdict = [](const std::string& text) {
    solve_test::ProofChecker checker;
    std::istringstream lines(text);
    return checker.check(lines).empty();
  };
  EXPECT_TRUE(verdict("t x\nv 2 0 1 3\nv 3 1 0 -2\nd -2 -3 0\nc 2 0\nc 3 0\nr 1\n"));
  EXPECT_FALSE(verdict("t x\nv 2 0 1 3\nv 3 1 0 -3\nd -2 -3 0\nc 2 0\nc 3 0\nr 1\n"));
  EXPECT_TRUE(verdict("t x\ns 4 3 2 2 3 0\np 0 -2 -3 0\n"));
  EXPECT_FALSE(verdict("t x\ns 5 3 2 2 3 0\np 0 -2 -3 0\n"));
  EXPECT_FALSE(verdict("t x\nc 2 3 0\nl 2 0\n"));
  EXPECT_FALSE(verdict("t x\nc 2 0\nr 1\n"));
}

}  // namespace
}  // namespace twill::solve
