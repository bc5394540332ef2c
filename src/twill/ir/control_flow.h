#pragma once

#include <optional>
#include <vector>

#include "twill/ir/program.h"

/// Branches between the blocks of a function. Triton makes them of a `return` in a conditional:
/// what follows it stands in a block of its own.
namespace twill::ir {

/// The function returns at `branch` if `condition` is `when`.
struct Exit {
  OpId branch;
  ValueId condition;
  bool when = true;
};

/// The one way to a block: the blocks on it from the entry on, itself the last, and where the
/// function may have returned before.
struct Way {
  std::vector<BlockId> blocks;
  std::vector<Exit> exits;
};

/// The way to `block`, a block of a function. nullopt if there is not just one, or if a branch
/// passes values, or leads elsewhere than on or to a return.
std::optional<Way> way_to(const Program& program, BlockId block);

/// Where a function may return before it comes to an operation.
struct EarlyReturns {
  std::vector<Exit> exits;
  std::optional<OpId> other;  ///< a branch that does not lead on to the operation or to a return
};

/// The early returns in front of `op`, an operation in a block of a function.
EarlyReturns returns_before(const Program& program, OpId op);

}  // namespace twill::ir
