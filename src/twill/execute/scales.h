#pragma once

#include "twill/execute/tile.h"
#include "twill/ir/program.h"

/// Operands of products with block scales (tcgen05.mma with .block_scale, PTX ISA).
namespace twill::execute {

enum class ScaledSide : unsigned char { left, right };

/// Multiplies each element of the operand by the scale of its block. The left operand is rows x
/// depth, the right depth x columns. Elements are numbers, or bytes of two e2m1 each, consecutive
/// along the depth, the lower half first. `scales` is rows (or columns) x blocks of the depth:
/// numbers, or bytes of e8m0. Fails, at the op's line, for other elements and shapes. Cost: linear
/// in the elements.
Result<TilePtr> scaled_operand(const ir::Program& program, ir::OpId op, const Tile& operand,
                               const Tile& scales, ScaledSide side);

}  // namespace twill::execute
