#pragma once

#include <optional>
#include <vector>

#include "twill/ir/program.h"

/// Branches between the blocks of a function. Triton makes such branches of a `return` in a
/// conditional: the ops after the conditional get a block of their own.
namespace twill::ir {

/// The function returns at `branch` if `condition` is `when`.
struct Exit {
  OpId branch;
  ValueId condition;
  bool when = true;
  std::optional<BlockId> acts =
      {};  ///< the block with ops before the return; set only with `Leaving::may_act`
};

/// Whether a block that ends the function may have ops with effects.
enum class Leaving { only, may_act };

/// The only path to a block: its blocks from the entry to that block, and the early returns on it.
struct Path {
  std::vector<BlockId> blocks;
  std::vector<Exit> exits;
};

/// The path to `block`, a block of a function. nullopt if there are several paths, if a branch
/// passes values, or if a branch leads neither to `block` nor to a return.
std::optional<Path> path_to(const Program& program, BlockId block, Leaving leaving = Leaving::only);

/// Where a function may return before it comes to an operation.
struct EarlyReturns {
  std::vector<Exit> exits;
  std::optional<OpId> other;  ///< a branch that leads neither to the operation nor to a return
};

/// The early returns in front of `op`, an operation in a block of a function.
EarlyReturns returns_before(const Program& program, OpId op, Leaving leaving = Leaving::only);

}  // namespace twill::ir
