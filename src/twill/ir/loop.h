#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "twill/ir/program.h"

/// Loops of a function and the values they carry from one iteration to the next.
namespace twill::ir {

/// One value carried around a loop. In a counting loop, `init` enters as `argument` in the first
/// iteration. `yielded` of one iteration is `argument` of the next, and `result` is the final
/// value. In a while loop, `argument` is of the before-region and `yielded` of the after-region,
/// and there is no `result` (see Loop::forwarded).
struct Carried {
  ValueId init;
  ValueId argument;
  ValueId yielded;
  std::optional<ValueId> result;
};

/// One value that the condition of a while loop passes on: the argument of the after-region, and
/// the loop's result.
struct Forwarded {
  ValueId passed;
  ValueId argument;
  ValueId result;
};

struct Loop {
  OpId op;                           ///< for_loop or while_loop
  std::optional<OpId> outer;         ///< the closest loop around it in the same function
  int depth = 0;                     ///< 0 is outermost
  bool innermost = true;             ///< holds no other loop
  BlockId body;                      ///< for_loop: the body; while_loop: the after-region
  std::optional<BlockId> before;     ///< while_loop: the before-region
  std::optional<ValueId> induction;  ///< for_loop; the next three too
  std::optional<ValueId> lower;
  std::optional<ValueId> upper;
  std::optional<ValueId> step;
  std::vector<Carried> carried;
  std::vector<Forwarded> forwarded;  ///< while_loop
};

/// Whether ops of that kind are loops.
bool is_loop(OpKind kind);

/// All loops inside `op` (a function, the module ...), in the order of the text. Includes loops in
/// partitions of warps.
std::vector<Loop> loops(const Program& program, OpId op);

/// The op as a loop; nullopt if it is none, or malformed (no reader makes malformed ones).
std::optional<Loop> as_loop(const Program& program, OpId op);

/// Number of iterations, if lower, upper and step are constants; 0 for a loop that never runs.
std::optional<std::int64_t> constant_trip_count(const Program& program, const Loop& loop);

/// A carried value that is `init` in the first iteration and grows by the invariant `by` in each
/// later one. It is an index, a pointer, or a tile of them.
struct Advance {
  ValueId init;
  ValueId by;
};

/// Advance of `argument`; nullopt if it is no argument of the loop's body, or changes in another
/// way.
std::optional<Advance> advance_of(const Program& program, const Loop& loop, ValueId argument);

/// True if `value` is defined outside `loop` (so it is the same in every iteration).
bool is_invariant(const Program& program, const Loop& loop, ValueId value);

}  // namespace twill::ir
