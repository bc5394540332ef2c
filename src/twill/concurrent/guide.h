#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "twill/concurrent/forms.h"
#include "twill/concurrent/number.h"
#include "twill/concurrent/turns.h"
#include "twill/ir/program.h"

namespace twill::concurrent {

/// Condition on a quantity: more than a threshold, or exactly one more than the threshold.
struct Condition {
  std::size_t form = 0;
  std::size_t occurrence = 0;
  std::optional<ir::OpId> inside;  ///< the threshold counts from the position of that loop
  std::int64_t threshold = 0;
  bool exact = false;
  bool negated = false;
  std::optional<bool> always;             ///< the condition is known
  std::optional<ir::ValueId> drawn = {};  ///< the number in the form (`drawn_conditions`)
};

/// Integers of one role that can all be shifted at once, with no effect beyond this set. An example
/// are counters of which only remainders and parities matter.
struct Shift {
  std::set<ir::ValueId> counters;          ///< shifted by `period` each
  std::int64_t period = 0;                 ///< at least 1
  std::int64_t least = 0;                  ///< counters below this number are told apart
  std::map<ir::ValueId, std::int64_t> by;  ///< shift of every value, counters too
  std::set<ir::OpId> loops;                ///< loops whose induction variables are counters
};

/// Loop over the iterations of all tiles, `count` for each tile. The loop ends at the end of a
/// tile.
struct Wrap {
  ir::OpId condition;     ///< holds in a tile's last iteration
  std::size_t count = 0;  ///< number of the form
};

/// Places where a value is read in the block that defines the value: numbers of ops of that block.
struct Reads {
  std::size_t last = 0;  ///< one more than the last op that reads the value, in its regions too
  std::set<std::size_t> within;  ///< ops whose regions read the value
  bool elsewhere = false;        ///< the value is read in another block of the function
};

/// Rules by which a run follows a function with unknown arguments:
/// docs/decisions/0012-verify-ttgir.md.
struct Guide {
  std::vector<bool> needed;  ///< by value: integers that decide the steps of roles
  std::map<ir::OpId, std::vector<ir::ValueId>> decides;  ///< `deciding_operands`, if any
  std::map<ir::OpId, CountedLoop> loops;                 ///< counting loops
  std::map<ir::OpId, CountedLoop> whiles;                ///< while loops
  std::map<ir::OpId, Condition> conditions;  ///< conditions of ops that make a needed i1
  HandedOn handed_on;
  /// Loops and conditions that depend on one number that roles hand to each other, for the case
  /// that this number is a draw. The form has one atom for all numbers of this kind.
  std::map<ir::OpId, CountedLoop> drawn_loops;
  std::map<ir::OpId, Condition> drawn_conditions;
  std::size_t drawn_form = 0;  ///< form of that atom
  /// Forms and thresholds by while loop. The loop goes on while the form of a draw is more than the
  /// threshold. The first `at_least` draws are taken to be more.
  std::multimap<ir::OpId, std::pair<std::size_t, std::int64_t>> going_on;
  std::int64_t at_least = 0;
  std::map<ir::OpId, Wrap> wraps;             ///< by loop
  std::map<ir::OpId, ir::OpId> last_of_tile;  ///< loops of conditions like `Wrap::condition`
  std::int64_t told_apart = 1;  ///< trip counts up to this number are told apart one by one
  /// Loops and branches without an op that roles could notice, and the conditions of these loops.
  std::set<ir::OpId> idle;
  /// Conditions of while loops whose trip counts are asked for. The conditions of all other loops
  /// are computed.
  std::set<ir::OpId> asked_ends;
  std::vector<Shift> shifts;
  std::map<ir::OpId, std::vector<std::size_t>> shifted;  ///< shifts of an op's operands
  std::vector<Turn> turns;
  std::vector<std::size_t> turn_of;  ///< by value: one more than the number of its turn, or 0
  /// Largest threshold of the questions about each form and occurrence, without the thresholds of
  /// loops.
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> largest;
  /// Bits of the roles that have a loop of that form and occurrence.
  std::map<std::pair<std::size_t, std::size_t>, std::uint64_t> roles;
  /// Quantities that are the same in every iteration of the enclosing loops, by form. The value is
  /// the threshold up to which a run remembers the quantity from an iteration to the next.
  std::map<std::size_t, std::int64_t> steady;
  std::set<std::size_t> recurs;  ///< forms of two or more loops of a role
  /// Lower limit by form: the quantity of a loop is taken to be more than this number.
  std::map<std::size_t, std::int64_t> more_than;
  /// Needed values that equal a loop's quantity plus a constant, by the number of its form and the
  /// constant.
  std::map<ir::ValueId, std::pair<std::size_t, std::int64_t>> valued;
  std::set<std::size_t> valued_forms;
  std::int64_t common_period = 1;  ///< a common multiple of all shifts' periods
  /// Quantities of `valued_forms` from this number on differ by remainders only. Beyond that
  /// number, adding the quantity to counters only shifts the counters.
  std::int64_t only_remainders = 1;
  std::size_t zero = 0;      ///< form of loops with constant bounds, whose quantity is 0
  std::vector<Reads> reads;  ///< by value
  std::size_t role_count = 1;
  std::int64_t most_open = 0;  ///< the most work that any wait leaves in flight

  /// The counter from which a turned value is computed; nullopt for other values.
  std::optional<ir::ValueId> counter_of(ir::ValueId value) const;
};

/// Mark in `Guide::shifted`: the op is checked in every state.
inline constexpr std::size_t kAlways = SIZE_MAX;

/// Occurrence of a steady quantity in all iterations of the loops around.
inline constexpr std::size_t kEverywhere = SIZE_MAX;

/// Makes the guide of a function; every loop is taken to make `at_least` iterations. Fails, at the
/// op's line, for ops that this analysis does not follow.
Result<Guide> make_guide(const ir::Program& program, ir::OpId function, std::int64_t at_least);

/// Fills `shifts` and `shifted`. Precondition: the other members are filled.
void add_shifts(const ir::Program& program, ir::OpId function, Guide& guide);

}  // namespace twill::concurrent
