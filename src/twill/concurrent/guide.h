#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "twill/concurrent/forms.h"
#include "twill/ir/program.h"

namespace twill::concurrent {

/// A condition on a quantity: more than a threshold, or exactly one more than it.
struct Condition {
  std::size_t form = 0;
  std::size_t occurrence = 0;
  std::optional<ir::OpId> inside;  ///< the threshold counts from the position of that loop
  std::int64_t threshold = 0;
  bool exact = false;
  bool negated = false;
  std::optional<bool> always;  ///< the condition is known
};

/// Integers of one role that may all be shifted at once and change nothing but each other: counters,
/// of which only remainders and parities matter.
struct Shift {
  std::set<ir::ValueId> counters;            ///< by `period` each
  std::int64_t period = 0;                   ///< at least 1
  std::int64_t least = 0;                    ///< counters below are told apart
  std::map<ir::ValueId, std::int64_t> by;    ///< all that is shifted, counters too
  std::set<ir::OpId> loops;                  ///< whose induction variables are counters
};

/// Where a value is read in the block that defines it: numbers of ops of that block.
struct Reads {
  std::size_t last = 0;  ///< one more than the last of them that reads it, in its regions too
  std::set<std::size_t> within;  ///< that read it in their regions
  bool elsewhere = false;        ///< in another block of the function
};

/// How a function is followed when its arguments are not known: docs/decisions/0012-verify-ttgir.md.
struct Guide {
  std::vector<bool> needed;  ///< by value: integers on which depends who does what
  std::map<ir::OpId, CountedLoop> loops;
  std::map<ir::OpId, Condition> conditions;  ///< ops that make a needed i1
  std::set<ir::OpId> idle;  ///< loops and branches in which nothing is done that roles could notice
  std::vector<Shift> shifts;
  std::map<ir::OpId, std::vector<std::size_t>> shifted;  ///< shifts that an op's operands differ by
  /// Largest threshold that is asked for, of each form and occurrence, but those of loops.
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> largest;
  /// Roles that have a loop of that form and occurrence, as bits.
  std::map<std::pair<std::size_t, std::size_t>, std::uint64_t> roles;
  std::vector<Reads> reads;  ///< by value
  std::size_t role_count = 1;
  std::int64_t most_open = 0;  ///< of all waits, the most that is left in flight
};

/// Fails, at the op's line, for what is not followed.
Result<Guide> make_guide(const ir::Program& program, ir::OpId function);

/// Fills `shifts` and `shifted`, once the rest is there.
void add_shifts(const ir::Program& program, ir::OpId function, Guide& guide);

}  // namespace twill::concurrent
