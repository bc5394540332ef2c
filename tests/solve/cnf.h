#pragma once

#include <optional>
#include <string>
#include <vector>

namespace twill::solve_test {

/// A formula in conjunctive normal form. Variables are 1, 2, ...; -x is "not x", as in DIMACS.
class Cnf {
 public:
  using Literal = int;
  using Clause = std::vector<Literal>;

  Literal fresh() { return ++variables_; }
  void add(Clause clause) { clauses_.push_back(std::move(clause)); }

  /// The sum of the amounts whose literal is true is at most `limit`. Amounts are at least 1, the
  /// limit is small: there are terms * limit new variables, "the first i sum to at least s".
  struct Term {
    Literal literal;
    int amount;
  };
  void at_most(const std::vector<Term>& terms, int limit);
  void exactly_one(const std::vector<Literal>& literals);

  std::size_t clause_count() const { return clauses_.size(); }
  /// As SAT solvers read it.
  std::string dimacs() const;

 private:
  int variables_ = 0;
  std::vector<Clause> clauses_;
};

/// Whether there is a SAT solver to ask: CaDiCaL was found when this was configured.
bool has_cadical();

/// Answer of CaDiCaL for the formula; none if it was stopped. Precondition: `has_cadical()`.
std::optional<bool> satisfiable(const Cnf& cnf);

}  // namespace twill::solve_test
