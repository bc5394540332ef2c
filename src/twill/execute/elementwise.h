#pragma once

#include <span>

#include "twill/execute/integers.h"
#include "twill/execute/tile.h"
#include "twill/ir/program.h"

/// Internal to the room: ops that compute each element independently. Operands have the shape of
/// the result, or are scalars.
namespace twill::execute {

bool is_elementwise(ir::OpKind kind);

/// Computes result number `result`. Fails if the op's types are not known. Precondition:
/// is_elementwise(op.kind).
Result<Tile> elementwise(const ir::Program& program, ir::OpId op, std::span<const TilePtr> operands,
                         std::size_t result);

/// Rounds, or wraps, every element to `scalar`; false for an unknown type.
bool conform(Tile& tile, ir::Type scalar);

/// Scalar type of a scalar or of a tile's elements; a pointer's own type.
ir::Type scalar_of(ir::Type type);

}  // namespace twill::execute
