#pragma once

#include <span>

#include "twill/execute/integers.h"
#include "twill/execute/tile.h"
#include "twill/ir/program.h"

/// Internal to the room: ops that work on each element for itself. Operands all have the shape of
/// the result, or are scalars.
namespace twill::execute {

bool is_elementwise(ir::OpKind kind);

/// Result number `result`. Fails if the op's types are not known. Precondition:
/// is_elementwise(op.kind).
Result<Tile> elementwise(const ir::Program& program, ir::OpId op, std::span<const TilePtr> operands,
                         std::size_t result);

/// Rounds, or wraps, every element to `scalar`; true unless that type is not known.
bool conform(Tile& tile, ir::Type scalar);

/// The scalar type of a scalar or of a tile's elements; for a pointer, the pointer type itself.
ir::Type scalar_of(ir::Type type);

}  // namespace twill::execute
