#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace twill::certify {

/// Literal: variable * 2, plus 1 if negated. Variable 0 is the constant true.
using Literal = std::uint32_t;
inline constexpr Literal kTrue = 0;
inline constexpr Literal kFalse = 1;
constexpr Literal negation(Literal literal) { return literal ^ 1U; }

/// Clauses that hold, their consequences by unit propagation (two watched literals; Moskewicz and
/// others, "Chaff", DAC 2001), and the test whether assumptions contradict them.
///
/// Each clause has a number, from 0. Reasons of literals are kept, so that a contradiction can be
/// traced back to its clauses.
class UnitPropagation {
 public:
  using Clause = std::uint32_t;

  UnitPropagation();

  Literal add_variable();
  std::size_t variable_count() const { return reasons_.size(); }

  /// Adds a clause and propagates. Literals may be repeated.
  Clause add(std::span<const Literal> literals);
  /// Drops a clause. Literals that it made true stay true.
  void remove(Clause clause);
  std::size_t clause_count() const { return starts_.size(); }

  bool is_true(Literal literal) const { return values_[literal] > 0; }
  bool is_false(Literal literal) const { return values_[literal] < 0; }
  /// Whether the clauses contradict each other: no assignment exists.
  bool is_contradictory() const { return contradiction_; }

  /// Makes all literals true until `release` and propagates. Returns false on a contradiction.
  /// Precondition: nothing is assumed.
  bool assume(std::span<const Literal> literals);
  /// Takes the assumption back.
  void release();

  /// Appends the clauses behind the contradiction of the last assume() (or of all clauses), back to
  /// those that made a literal true for good. Call it before release().
  void trace_contradiction(std::vector<Clause>& clauses);
  /// Appends the clauses on which the truth of some literals rests.
  void trace(std::span<const Literal> literals, std::vector<Clause>& clauses);
  /// Appends the clauses that made the other literals of this clause false, if it made a literal
  /// true for good.
  void trace_further(Clause clause, std::vector<Clause>& clauses);

  std::span<const Literal> literals_in(Clause clause) const {
    return std::span(arena_).subspan(starts_[clause], sizes_[clause]);
  }

  /// Whether a clause made a literal true for good. Such a clause is never removed.
  bool is_reason(Clause clause) const { return is_reason_[clause] != 0; }

 private:
  static constexpr Clause kNone = 0xffffffff;
  struct Watch {
    Clause clause;
    Literal blocker;
  };

  std::span<Literal> literals_of(Clause clause) {
    return std::span(arena_).subspan(starts_[clause], sizes_[clause]);
  }
  void assign(Literal literal, Clause reason);
  bool propagate();
  bool visit(Watch& watch, Literal now_false, bool& keep);
  void walk(std::vector<Clause>& clauses);
  void mark(Literal literal);

  std::vector<Literal> arena_;
  std::vector<std::size_t> starts_;   ///< by clause
  std::vector<std::uint32_t> sizes_;  ///< 0 once removed
  std::vector<std::uint8_t> is_reason_;
  std::vector<std::vector<Watch>> watches_;  ///< by literal that must become false
  std::vector<std::int8_t> values_;          ///< by literal
  std::vector<Clause> reasons_;              ///< by variable
  std::vector<Literal> trail_;
  std::size_t head_ = 0;
  std::size_t fixed_ = 0;  ///< length of the trail that is true for good
  bool contradiction_ = false;
  Clause conflict_ = kNone;          ///< violated clause
  Literal clash_ = kTrue;            ///< or an assumption that is false already
  std::vector<std::uint8_t> marks_;  ///< by variable, while tracing
  std::vector<std::uint32_t> todo_;  ///< marked variables
};

}  // namespace twill::certify
