#pragma once

#include <span>

#include "twill/execute/tile.h"
#include "twill/ir/program.h"

/// Evaluates ops whose results follow from their operands alone, or any part of such results. For
/// the arithmetic see docs/reference/simulation.md, "Numbers".
namespace twill::execute {

/// True for ops whose results follow from their operands alone: arithmetic, conversions, views,
/// ranges, constants, reductions, and products of tiles in registers. False for products of tensor
/// memory and ops that read or write memory.
bool can_evaluate(ir::OpKind kind);

/// Part of operand `operand` that is needed for the part `box` of the op's results. Precondition:
/// can_evaluate(op.kind), or a transposition or reshape of memory, by its contents.
Box operand_box(const ir::Program& program, ir::OpId op, std::size_t operand, const Box& box);

/// Computes the part `box` of result `result`, from the parts of the operands that `operand_box`
/// names. Fails, with the op's line, for an unknown op or type. Cost: about linear in the elements;
/// for a product, in its multiplications.
Result<Tile> evaluate(const ir::Program& program, ir::OpId op, std::span<const TilePtr> operands,
                      const Box& box, std::size_t result = 0);

/// sums[m][n] += a[m][k] * b[k][n], k ascending. Each product and each sum is rounded to f32;
/// integers are exact. The last two dimensions of a are m x k. Leading dimensions number matrices,
/// and are equal in all three tiles.
void multiply_add(const Tile& a, const Tile& b, Tile& sums);

/// Fails unless all are numbers, or all are integers, with shapes [.., m, k], [.., k, n] and [..,
/// m, n].
Result<void> check_product(const ir::Program& program, ir::OpId op, const Tile& a, const Tile& b,
                           const Tile& sums);

/// Rounds or wraps each element to the element type of `type`. Fails for an unknown type.
Result<Tile> converted(const ir::Program& program, ir::OpId op, Tile tile, ir::Type type);

/// A failed Result: "cannot be executed: OP is not known", at the op's line.
tl::unexpected<Diagnostic> cannot(const ir::Program& program, ir::OpId op, const std::string& why);

}  // namespace twill::execute
