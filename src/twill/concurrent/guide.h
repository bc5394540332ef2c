#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "twill/concurrent/forms.h"
#include "twill/concurrent/number.h"
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
  std::optional<bool> always;             ///< the condition is known
  std::optional<ir::ValueId> drawn = {};  ///< the form is about this number (`drawn_conditions`)
};

/// Integers of one role that may all be shifted at once and change nothing but each other:
/// counters, of which only remainders and parities matter.
struct Shift {
  std::set<ir::ValueId> counters;          ///< by `period` each
  std::int64_t period = 0;                 ///< at least 1
  std::int64_t least = 0;                  ///< counters below are told apart
  std::map<ir::ValueId, std::int64_t> by;  ///< all that is shifted, counters too
  std::set<ir::OpId> loops;                ///< whose induction variables are counters
};

/// A loop over the iterations of all tiles, `count` for each. It ends with a tile.
struct Wrap {
  ir::OpId condition;     ///< holds in a tile's last iteration
  std::size_t count = 0;  ///< number of the form
};

/// Where a value is read in the block that defines it: numbers of ops of that block.
struct Reads {
  std::size_t last = 0;  ///< one more than the last of them that reads it, in its regions too
  std::set<std::size_t> within;  ///< that read it in their regions
  bool elsewhere = false;        ///< in another block of the function
};

/// How a function is followed when its arguments are not known:
/// docs/decisions/0012-verify-ttgir.md.
struct Guide {
  std::vector<bool> needed;  ///< by value: integers on which depends who does what
  std::map<ir::OpId, std::vector<ir::ValueId>> decides;  ///< `deciding_operands`, where there are
  std::map<ir::OpId, CountedLoop> loops;                 ///< counting ones
  std::map<ir::OpId, CountedLoop> whiles;                ///< others
  std::map<ir::OpId, Condition> conditions;              ///< ops that make a needed i1
  HandedOn handed_on;
  /// Loops and conditions that depend on one number that roles hand to each other: as it is if that
  /// number is a draw. The form has one atom for all such numbers.
  std::map<ir::OpId, CountedLoop> drawn_loops;
  std::map<ir::OpId, Condition> drawn_conditions;
  std::size_t drawn_form = 0;  ///< of that atom
  /// Forms and thresholds, by while loop: it goes on while that of a draw is more. So it does with
  /// the first `at_least` draws.
  std::multimap<ir::OpId, std::pair<std::size_t, std::int64_t>> going_on;
  std::int64_t at_least = 0;
  std::map<ir::OpId, Wrap> wraps;             ///< by loop
  std::map<ir::OpId, ir::OpId> last_of_tile;  ///< conditions about that, and their loops
  std::int64_t told_apart = 1;  ///< numbers of iterations up to that are told apart one by one
  /// Loops and branches in which nothing is done that roles could notice, and the conditions of
  /// such loops.
  std::set<ir::OpId> idle;
  /// Conditions of while loops that are asked how often they go on. Those of all other loops are
  /// computed.
  std::set<ir::OpId> asked_ends;
  std::vector<Shift> shifts;
  std::map<ir::OpId, std::vector<std::size_t>> shifted;  ///< shifts that an op's operands differ by
  /// Largest threshold that is asked for, of each form and occurrence, but those of loops.
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> largest;
  /// Roles that have a loop of that form and occurrence, as bits.
  std::map<std::pair<std::size_t, std::size_t>, std::uint64_t> roles;
  /// Quantities that are the same in every iteration of the enclosing loops, by form. The threshold
  /// up to which each is remembered from an iteration to the next.
  std::map<std::size_t, std::int64_t> steady;
  std::set<std::size_t> recurs;  ///< forms of several loops of a role
  /// By form: loops are taken to have a quantity of more than that.
  std::map<std::size_t, std::int64_t> more_than;
  /// Needed values that are a loop's quantity, by the number of its form, and a constant.
  std::map<ir::ValueId, std::pair<std::size_t, std::int64_t>> valued;
  std::set<std::size_t> valued_forms;
  std::int64_t common_period = 1;  ///< of all shifts
  /// Quantities of `valued_forms` from that number on differ by remainders only: what is added to
  /// counters then shifts them.
  std::int64_t only_remainders = 1;
  std::size_t zero = 0;      ///< form of loops whose bounds are constants: its quantity is 0
  std::vector<Reads> reads;  ///< by value
  std::size_t role_count = 1;
  std::int64_t most_open = 0;  ///< of all waits, the most that is left in flight
};

/// In `Guide::shifted`: the op is looked at in every state.
inline constexpr std::size_t kAlways = SIZE_MAX;

/// Occurrence of a steady quantity in all iterations of the loops around.
inline constexpr std::size_t kEverywhere = SIZE_MAX;

/// Operands of an op by which roles decide: slots, phases, predicates, and conditions of branches
/// and loops that are not idle. `guide` has `idle` and `asked_ends`.
std::vector<ir::ValueId> deciding_operands(const ir::Program& program, ir::OpId op,
                                           const Guide& guide);

/// `at_least`: iterations that every loop is taken to make. Fails, at the op's line, for what is
/// not followed.
Result<Guide> make_guide(const ir::Program& program, ir::OpId function, std::int64_t at_least);

/// Fills `shifts` and `shifted`, once the rest is there.
void add_shifts(const ir::Program& program, ir::OpId function, Guide& guide);

}  // namespace twill::concurrent
