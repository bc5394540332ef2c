#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string_view>
#include <vector>

#include "twill/solve/literal.h"

namespace twill::solve {

/// Meaning of a literal or an at-most constraint as a statement about a schedule, so that a second
/// program can check the literal. `first` and `second` number ops, groups, memories, or the
/// subject's accumulators, as listed with each kind. Exact meanings: docs/reference/certificate.md.
struct Meaning {
  enum class Kind : std::uint8_t {
    in_group,        ///< op, group
    used,            ///< group: the group has an op
    opened,          ///< group, op: an op that does not come after this one is in the group
    same_group,      ///< op, op
    waits,           ///< op: the op blocks
    alive,           ///< value, event, copies: `copies` copies are alive when the event is issued
    held,            ///< as `alive`, and both ops are in one group
    together,        ///< accumulator, event: all ops of the accumulator are in the event's group
    before,          ///< accumulator, event, position: a value up to the position is held
    counts,          ///< accumulator, event, position: the value at the position is held; and it is
                     ///< not the first held value, or not all are together
    gathered,        ///< accumulator, group: all ops of the accumulator are in the group
    leaves,          ///< value, group: the value is made in the group, and a reader for which it
                     ///< lives longer is in another group
    crosses,         ///< value, group: a reader is in the group, and the value is made in another
                     ///< group
    handed,          ///< value, number: made by at least `number` warps, with a reader in another
                     ///< group
    exists,          ///< transfer op: the op exists
    runs_in,         ///< group, number: the group needs at least `number` steps of its register
                     ///< budget
    deep,            ///< value, memory, number: the value's buffer holds `number` copies at once
    steps,           ///< group, number: the group needs `number` steps of its register budget
    groups,          ///< number: at most `number` groups have an op
    crossings,       ///< number: at most `number` crossings
    length,          ///< number: the schedule is at most as long
    pipe,            ///< pipe: the demand of transfer ops fits beside the other demands
    memory,          ///< memory, event: values alive at the event fit
    depth,           ///< event, memory: copies alive at the event in its buffer fit in the buffer's
                     ///< depth
    registers,       ///< event: registers alive in its group at the event fit
    issue,           ///< group: its issue cycles fit
    register_time,   ///< group: its least register time, registers times cycles, fits
    compute_groups,  ///< enough compute groups have an op
    budget,          ///< group: the steps that the groups of its budget need fit
  };
  Kind kind = Kind::used;
  std::size_t first = 0;
  std::size_t second = 0;
  std::int64_t number = 0;
};

/// Node for the begin or end of a buffer in a memory, or for the memory's first address. Such nodes
/// occur in no literal.
struct AddressNode {
  enum class Kind : std::uint8_t { base, offset, end };
  Kind kind = Kind::base;
  std::size_t memory = 0;
  std::size_t op = 0;  ///< first op of the buffer
};

/// Subject of a refutation, and the assumptions made without loss of generality.
struct ProofSubject {
  std::int64_t ii = 1;
  std::size_t anchor = 0;                              ///< op whose slot is 0
  std::vector<std::size_t> tiles;                      ///< ops ordered by slot, the anchor first
  std::vector<std::vector<std::size_t>> exchanges;     ///< exchanges of every pair of `tiles`
  std::vector<std::vector<std::size_t>> accumulators;  ///< ops in the order in which they read each
                                                       ///< other
  std::vector<AddressNode> addresses;                  ///< nodes after those of slots and stages
};

/// Receives the input of an Engine and every step that the engine derives, in an order in which
/// each step follows from the steps before. Replaying the events checks a refutation without trust
/// in the engine. The learned clauses are a DRUP proof (Goldberg and Novikov, DATE 2003; Heule,
/// Hunt and Wetzler, FMCAD 2013) with lemmas of two theories:
///
/// - `difference`: always holds. `atom`: the literal is true iff the difference holds.
/// - `clause`, `at_most`: the input.
/// - `difference_lemma`: a clause; the negations of its literals, taken as differences together
///   with those that always hold, close a circuit of positive weight.
/// - `at_most_lemma`: a clause; the negations of its literals exceed the bound of one at-most.
/// - `learned`: a clause that follows by unit propagation from the present clauses (RUP).
/// - `deleted`: a learned clause that is no longer used.
/// - `refuted`: the clause {~assumption}, or the empty clause if the assumption is kTrue, follows
///   by unit propagation: there is no solution with the assumption.
class ProofSink {
 public:
  ProofSink() = default;
  ProofSink(const ProofSink&) = delete;
  ProofSink& operator=(const ProofSink&) = delete;
  virtual ~ProofSink() = default;

  /// Begins a new engine, which contains only the constant true.
  virtual void begin(std::string_view title) = 0;
  /// Sets the alternatives, by op, of the searches that follow.
  virtual void combination(const std::vector<int>& /*alternatives*/) {}
  /// Sets the subject, after `begin`. Node i is the slot of op i, node n + i the stage of op i, for
  /// n ops.
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
  /// Precondition: `out` outlives the object.
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
