#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

#include "twill/certify/constraints.h"
#include "twill/certify/proof.h"
#include "twill/certify/unit_propagation.h"

/// Internal to the room: replay of a proof, step by step.
namespace twill::certify {

using Clause = UnitPropagation::Clause;

/// Listener for the reasons of every accepted step. The last call is about the refutation itself,
/// with the number of steps.
class Witness {
 public:
  Witness() = default;
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;
  virtual ~Witness() = default;
  /// `causes` are literals that were true, beyond those of the clauses.
  virtual void rests_on(std::size_t step, std::vector<Clause> clauses,
                        const std::vector<Literal>& causes) = 0;
};

/// Run through a proof. Problem, proof and witness outlive it; the witness may be null.
class Replay {
 public:
  Replay(const problem::Problem& problem, const Proof& proof, Witness* witness)
      : problem_(problem),
        proof_(proof),
        witness_(witness),
        constraints_(problem, proof.subject, clauses_) {}

  /// Checks all steps. Call it once.
  tl::expected<void, Rejection> run();

  UnitPropagation& clauses() { return clauses_; }
  /// Number of the first clause that a step added; later clauses are in the order of steps.
  std::size_t first() const { return first_; }
  /// Literals by variable of the proof.
  const std::vector<Literal>& literals() const { return literals_; }

 private:
  std::string claim() const;
  std::string take(std::size_t index);
  std::string drop(const Step& step);
  bool contradicts(const std::vector<Literal>& literals, std::size_t step);
  bool overflows(const Predicate& sum, std::size_t step);

  const problem::Problem& problem_;
  const Proof& proof_;
  Witness* witness_;
  UnitPropagation clauses_;
  Constraints constraints_;
  std::vector<Literal> literals_;
  std::size_t first_ = 0;
  std::vector<Literal> lemma_;
  std::vector<Literal> negated_;
  std::vector<Literal> causes_;
};

}  // namespace twill::certify
