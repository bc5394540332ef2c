#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "twill/certify/differences.h"
#include "twill/certify/unit_propagation.h"

namespace twill::solve_test {

/// Checks the text of an engine's proof (format: twill/solve/proof.h), its input included, with
/// parts of the certificate checker. For engines that solve systems other than a Problem.
class ProofChecker {
 public:
  /// Reads a whole text with any number of proofs. Empty if every step follows, else the first line
  /// that does not, with the reason.
  std::string check(std::istream& text);

  int refutations() const { return refutations_; }  ///< `r` lines seen
  int lemmas() const { return lemmas_; }            ///< `d` and `p` lines seen
  int learned() const { return learned_; }          ///< `l` lines seen

 private:
  using Clause = std::vector<int>;
  struct Row {
    std::int64_t bound;
    std::vector<std::pair<std::int64_t, int>> terms;
  };

  std::string check_line(const std::string& line);
  void start();
  certify::Literal literal(int number);
  void add(Clause clause);
  void remove(Clause clause);
  bool follows(const Clause& clause);
  bool closes_positive_circuit(const Clause& clause);

  std::unique_ptr<certify::UnitPropagation> clauses_;
  std::map<Clause, std::vector<certify::UnitPropagation::Clause>> numbers_;  ///< by sorted literals
  std::vector<certify::Difference> always_;
  std::optional<certify::Differences> closed_;  ///< of `always_`; empty after a change of it
  std::map<int, certify::Difference> atoms_;
  std::vector<Row> rows_;
  int refutations_ = 0;
  int lemmas_ = 0;
  int learned_ = 0;
};

}  // namespace twill::solve_test
