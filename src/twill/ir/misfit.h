#pragma once

#include <optional>
#include <string>

#include "twill/ir/program.h"

/// Checks that the types of ops fit their meaning. Front ends refuse texts by this checker. The
/// evaluator uses it for a Program that was not read from a text.
namespace twill::ir {

/// A type that does not fit.
struct Misfit {
  std::string message;           ///< with the op's name and the type that is wanted
  std::optional<ValueId> value;  ///< whose type it is
};

/// Finds a type of one op that does not fit the op's meaning. Ops: arithmetic, casts, comparisons,
/// views, reductions, products, accesses to memory, descriptors, and the values of branches and
/// loops. Checks shapes, elements, and layouts where they fix the width of elements or must be
/// equal. Empty: the types fit, or the op or one of its types is not known. Signs of integers are
/// ignored. Cost: constant per operand.
std::optional<Misfit> misfit(const Program& program, OpId op);

/// The op that defines a value; for an argument of a block, the op that holds the block.
OpId maker(const Program& program, ValueId value);

}  // namespace twill::ir
