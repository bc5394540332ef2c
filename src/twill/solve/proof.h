#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string_view>
#include <vector>

#include "twill/solve/literal.h"

namespace twill::solve {

/// Meaning of a literal or an at-most constraint as a statement about a schedule, so that a second
/// program can check it. `first` and `second` number ops, groups, memories, or the subject's
/// accumulators, as said below. docs/reference/certificate.md has it in words.
struct Meaning {
  enum class Kind : std::uint8_t {
    in_group,        ///< op, group
    used,            ///< group: it has an op
    opened,          ///< group, op: an op that does not come after this one is in the group
    same_group,      ///< op, op
    waits,           ///< op: it blocks
    alive,           ///< value, event, copies: so many are alive when the event is issued
    held,            ///< the same, and both ops are in one group
    together,        ///< accumulator, event: all its ops are in the event's group
    before,          ///< accumulator, event, position: a value up to there is held
    counts,          ///< accumulator, event, position: the value there is held, and it is not the
                     ///< first that is, or they are not together
    gathered,        ///< accumulator, group: all its ops are in the group
    leaves,          ///< value, group: the value is in the group, a reader for which it lives
                     ///< longer is not
    crosses,         ///< value, group: a reader is in the group, the value is not
    handed,          ///< value, number: made by so many warps, with a reader elsewhere
    exists,          ///< transfer op: it exists
    runs_in,         ///< transfer op, group: it exists and is in the group
    deep,            ///< value, memory, number: its buffer holds so many copies at once
    steps,           ///< group, number: it needs so many steps of its register budget
    groups,          ///< number: no more groups have an op
    crossings,       ///< number: no more crossings
    length,          ///< number: the schedule is no longer
    pipe,            ///< pipe: the demand of transfer ops fits beside the others
    memory,          ///< memory, event: live values fit then
    depth,           ///< event, memory: the copies alive then in its buffer fit in its depth
    registers,       ///< event: live registers of its group fit then
    issue,           ///< group: its issue cycles fit
    register_time,   ///< group: its least register time, registers times cycles, fits
    compute_groups,  ///< enough of them have an op
    budget,          ///< group: the steps that those of its budget need fit
  };
  Kind kind = Kind::used;
  std::size_t first = 0;
  std::size_t second = 0;
  std::int64_t number = 0;
};

/// A node for the begin or end of a buffer in a memory, or for the memory's first address, on which
/// there are no literals.
struct AddressNode {
  enum class Kind : std::uint8_t { base, offset, end };
  Kind kind = Kind::base;
  std::size_t memory = 0;
  std::size_t op = 0;  ///< the first of the buffer
};

/// Subject of a refutation, and the assumptions made without loss of generality.
struct ProofSubject {
  std::int64_t ii = 1;
  std::size_t anchor = 0;                              ///< the op of slot 0
  std::vector<std::size_t> tiles;                      ///< ops ordered by slot, the anchor first
  std::vector<std::vector<std::size_t>> exchanges;     ///< of every pair of `tiles`
  std::vector<std::vector<std::size_t>> accumulators;  ///< ops in the order they read each other
  std::vector<AddressNode> addresses;  ///< the nodes after those of slots and stages
};

/// Receives what an Engine is given and every step it derives, in an order in which each step
/// follows from what came before. A refutation is checked by replaying the events,
/// without trusting the engine:
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
  /// The searches that follow are about these alternatives, by op.
  virtual void combination(const std::vector<int>& /*alternatives*/) {}
  /// Follows `begin`. Node i is the slot of op i, node n + i the stage of op i, for n ops.
  virtual void subject(const ProofSubject& /*subject*/) {}
  /// Meaning of a literal that is no atom, before the literal is used.
  virtual void meaning(Literal /*literal*/, const Meaning& /*meaning*/) {}
  /// Meaning of the next `at_most`.
  virtual void meaning(const Meaning& /*meaning*/) {}
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
