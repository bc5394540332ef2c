#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "twill/schedule/loop_text.h"

/// Words and order of statements that the reader and the printer of `.loop` share.
namespace twill::schedule {

/// Sections of a canonical text, in their order.
enum class Section {
  name,
  relax,
  minimize,
  minimum_compute_groups,
  unit,
  pipe,
  memory,
  group,
  register_budget,
  op,
  dependence,
  same_group,
  transfer,
  schedule,  ///< element 0 is the header, 1 + op the placement of that op
  order,     ///< element 0 is the header, then the sequences of groups, then those of units
};

/// Place of a statement in the canonical text.
struct Position {
  Section section = Section::name;
  std::size_t element = 0;  ///< index in the table of that section
  std::size_t line = 0;     ///< for an op: 0 the op itself, then its sources, then its alternatives
  friend auto operator<=>(const Position&, const Position&) = default;
};

struct Statement {
  Position position;
  std::string text;  ///< without newline and comment
};

/// Canonical statements, by ascending position.
std::vector<Statement> statements_of(const LoopText& loop);

/// Default issue cycles of an alternative: the occupancy for a synchronous op, one cycle for an
/// asynchronous op, which only starts its unit.
inline Cycles default_issue(bool asynchronous, Cycles occupancy) {
  if (!asynchronous) return occupancy;
  return occupancy > 0 ? 1 : 0;
}

inline constexpr int kDefaultWarps = 4;

/// Largest issue cycle that a `.loop` text may state.
inline constexpr Cycles kLargestIssue = 1'000'000'000'000;

}  // namespace twill::schedule
