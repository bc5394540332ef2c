#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "twill/solve/literal.h"

namespace twill::solve {

/// Pseudo-Boolean constraints sum a_i x_i <= bound with a_i > 0. Propagation counts the true terms
/// (Chai and Kuehlmann, "A Fast Pseudo-Boolean Constraint Solver", DAC 2003).
class AtMostStore {
 public:
  /// Preconditions: `values` by literal code (1 true, -1 false, 0 open) and `positions` on the
  /// trail by variable belong to the engine and outlive the store.
  AtMostStore(const std::vector<std::int8_t>& values, const std::vector<std::uint32_t>& positions)
      : values_(values), positions_(positions) {}

  /// Adds a constraint over distinct variables; returns its index. Literals that are true count
  /// from the start if they stand before `counted` on the trail, else when `assign` reports them.
  std::uint32_t add(std::span<const Term> terms, std::int64_t bound, std::uint32_t counted);

  /// Counts a literal that became true. Returns false if a constraint is violated; `violated()` is
  /// then its index. Otherwise `implied()` lists the literals that became true as a consequence.
  bool assign(Literal literal);
  /// Takes back an `assign` of the same literal.
  void unassign(Literal literal);

  struct Implied {
    Literal literal;  ///< must be true: negation of a term that no longer fits
    std::uint32_t constraint;
  };
  /// Fills `implied()` anew with the literals that one constraint implies now. Returns false if the
  /// constraint is violated.
  bool check(std::uint32_t constraint);
  const std::vector<Implied>& implied() const { return implied_; }
  std::uint32_t violated() const { return violated_; }

  /// Appends true terms that together leave no room for the term ~`implied`, or for kTrue exceed
  /// the bound. Takes only terms before `position_limit` on the trail, the earliest preferred.
  void explain(std::uint32_t constraint, Literal implied, std::uint32_t position_limit,
               std::vector<Literal>& causes);

  std::uint64_t work() const { return work_; }  ///< terms touched so far
  std::size_t memory() const;                   ///< bytes, estimated

 private:
  struct Constraint {
    std::size_t first;
    std::size_t count;
    std::int64_t bound;
    std::int64_t sum;
  };
  struct Occurrence {
    std::uint32_t constraint;
    std::int64_t coefficient;
  };

  /// Appends to `implied()` the literals that one constraint implies. Returns false if it is
  /// violated.
  bool propagate(std::uint32_t constraint);

  const std::vector<std::int8_t>& values_;
  const std::vector<std::uint32_t>& positions_;
  std::vector<Constraint> constraints_;
  std::vector<Term> terms_;  ///< terms of all constraints; within a constraint by descending
                             ///< coefficient
  std::vector<std::vector<Occurrence>> occurrences_;  ///< by literal code
  std::vector<Implied> implied_;
  std::vector<Term> causes_;
  std::uint32_t violated_ = 0;
  std::uint64_t work_ = 0;
};

}  // namespace twill::solve
