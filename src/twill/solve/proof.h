#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string_view>

#include "twill/solve/literal.h"

namespace twill::solve {

/// Receives what an Engine is given and every step it derives, in an order in which each step
/// follows from what came before. Whoever replays the events can check a refutation without
/// trusting the engine:
///
/// - `difference`: always holds. `atom`: the literal is true iff the difference holds.
/// - `clause`, `at_most`: the input.
/// - `difference_lemma`: a clause; the negations of its literals, taken as differences together
///   with those that always hold, close a circuit of positive weight.
/// - `at_most_lemma`: a clause; the negations of its literals exceed the bound of one at-most.
/// - `learned`: a clause that follows by unit propagation from the clauses alive (RUP).
/// - `deleted`: a learned clause that is not used any more.
/// - `refuted`: the clause {~assumption}, or the empty clause if the assumption is kTrue, follows
///   by unit propagation: there is no solution with the assumption.
class ProofSink {
 public:
  ProofSink() = default;
  ProofSink(const ProofSink&) = delete;
  ProofSink& operator=(const ProofSink&) = delete;
  virtual ~ProofSink() = default;

  /// A new engine starts, with nothing in it but the constant true.
  virtual void begin(std::string_view title) = 0;
  virtual void difference(const Difference& difference) = 0;
  virtual void atom(Literal literal, const Difference& difference) = 0;
  virtual void clause(std::span<const Literal> literals) = 0;
  virtual void at_most(std::span<const Term> terms, std::int64_t bound) = 0;
  virtual void difference_lemma(std::span<const Literal> literals) = 0;
  /// `index` counts the `at_most` events since `begin`, from 0.
  virtual void at_most_lemma(std::size_t index, std::span<const Literal> literals) = 0;
  virtual void learned(std::span<const Literal> literals) = 0;
  virtual void deleted(std::span<const Literal> literals) = 0;
  virtual void refuted(Literal assumption) = 0;
};

/// Writes the events as text, one line each. Literals are signed variable numbers as in DIMACS,
/// moved up by one: the constant true is 1.
///
///     t TITLE                    begin
///     e X Y BOUND                X - Y >= BOUND always
///     v LITERAL X Y BOUND        the literal is true iff X - Y >= BOUND
///     c LITERALS 0               input clause
///     s BOUND A1 L1 A2 L2 .. 0   A1 L1 + A2 L2 + .. <= BOUND
///     d LITERALS 0               difference lemma
///     p INDEX LITERALS 0         at-most lemma of the INDEXth `s` line
///     l LITERALS 0               learned
///     x LITERALS 0               deleted
///     r LITERAL                  refuted under the assumption
class TextProof : public ProofSink {
 public:
  /// `out` must outlive this.
  explicit TextProof(std::ostream& out) : out_(out) {}

  void begin(std::string_view title) override;
  void difference(const Difference& difference) override;
  void atom(Literal literal, const Difference& difference) override;
  void clause(std::span<const Literal> literals) override;
  void at_most(std::span<const Term> terms, std::int64_t bound) override;
  void difference_lemma(std::span<const Literal> literals) override;
  void at_most_lemma(std::size_t index, std::span<const Literal> literals) override;
  void learned(std::span<const Literal> literals) override;
  void deleted(std::span<const Literal> literals) override;
  void refuted(Literal assumption) override;

 private:
  void line(std::string_view kind, std::span<const Literal> literals);
  std::ostream& out_;
};

}  // namespace twill::solve
