#pragma once

#include <span>

#include "twill/execute/tile.h"
#include "twill/ir/program.h"

/// Evaluates ops whose results follow from their operands alone, or any part of such a result. The
/// arithmetic: docs/reference/simulation.md, "Numbers".
namespace twill::execute {

/// True for ops whose results follow from their operands alone: arithmetic, conversions, views,
/// ranges, constants, reductions, and products of tiles in registers. False for products of tensor
/// memory and ops that read or write memory.
bool can_evaluate(ir::OpKind kind);

/// The part of operand `operand` from which the part `box` of the op's results is computed.
/// Precondition: can_evaluate(op.kind), or a transposition or reshape of memory, whose contents
/// count.
Box operand_box(const ir::Program& program, ir::OpId op, std::size_t operand, const Box& box);

/// The part `box` of result `result`, from the parts of the operands that `operand_box` names.
/// Fails, with the op's line, where the op or one of its types is not known. Cost: about linear in
/// the elements; of a product, in its multiplications.
Result<Tile> evaluate(const ir::Program& program, ir::OpId op, std::span<const TilePtr> operands,
                      const Box& box, std::size_t result = 0);

/// sums[m][n] += a[m][k] * b[k][n], k ascending. Each product and each sum is rounded to f32; of
/// integers, exact. a's last two dimensions are m x k; leading dimensions number matrices, alike in
/// all three tiles.
void multiply_add(const Tile& a, const Tile& b, Tile& sums);

/// Fails unless they are numbers, or integers, of shapes that fit: [.., m, k], [.., k, n] and [..,
/// m, n].
Result<void> check_product(const ir::Program& program, ir::OpId op, const Tile& a, const Tile& b,
                           const Tile& sums);

/// Each element rounded or wrapped to the elements of `type`. Fails if that type is not known.
Result<Tile> converted(const ir::Program& program, ir::OpId op, Tile tile, ir::Type type);

/// A failed Result: "cannot be executed: OP is not known", at the op's line.
tl::unexpected<Diagnostic> cannot(const ir::Program& program, ir::OpId op, const std::string& why);

}  // namespace twill::execute
