#pragma once

#include <optional>
#include <string>
#include <vector>

namespace twill::solve_test {

/// Formula in conjunctive normal form. Variables are 1, 2, ...; -x is "not x", as in DIMACS.
class Cnf {
 public:
  using Literal = int;
  using Clause = std::vector<Literal>;

  Literal fresh() { return ++variables_; }
  void add(Clause clause) { clauses_.push_back(std::move(clause)); }

  /// Limits the sum of the amounts whose literal is true to `limit`. Amounts are at least 1, and
  /// the limit is small. There are terms * limit new variables, "the first i sum to at least s", as
  /// in a sequential counter (Sinz, CP 2005).
  struct Term {
    Literal literal;
    int amount;
  };
  void at_most(const std::vector<Term>& terms, int limit);
  void exactly_one(const std::vector<Literal>& literals);

  std::size_t clause_count() const { return clauses_.size(); }
  /// Prints the formula for SAT solvers.
  std::string dimacs() const;

 private:
  int variables_ = 0;
  std::vector<Clause> clauses_;
};

/// Whether there is a SAT solver: CaDiCaL was found when the build was configured.
bool has_cadical();

/// Answer of CaDiCaL for the formula; empty if CaDiCaL was stopped. Precondition: `has_cadical()`.
std::optional<bool> satisfiable(const Cnf& cnf);

}  // namespace twill::solve_test
