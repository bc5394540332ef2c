#pragma once

#include <optional>
#include <string>

#include "twill/ir/program.h"

/// Whether the types of ops are those that their meaning takes. One checker for all: front ends
/// refuse texts by it, and whoever executes a Program that no text was read for asks it, too.
namespace twill::ir {

/// A type that does not fit.
struct Misfit {
  std::string message;           ///< with the op's name and the type that is wanted
  std::optional<ValueId> value;  ///< whose type it is
};

/// Finds what does not fit in the types of one op whose meaning is known: arithmetic, casts,
/// comparisons, views, reductions, products, accesses to memory, descriptors, and what branches and
/// loops hand on. Shapes, elements, and layouts as far as they say how wide elements are or must be
/// one. Nothing: it fits, or the op or one of its types is not known. Signs of integers are no
/// difference. Cost: constant per operand.
std::optional<Misfit> misfit(const Program& program, OpId op);

/// Where a value is made: the op, or for an argument of a block the op that holds the block.
OpId maker(const Program& program, ValueId value);

}  // namespace twill::ir
