#pragma once

#include <optional>

#include "twill/execute/tile.h"
#include "twill/ir/program.h"

namespace twill::execute {

/// First index, in each dimension, of the part of a buffer that a buffer_slice or tensor_slice
/// takes. nullopt if offsets and types do not fit. nullopt also within tensor memory of several
/// blocks of rows: such blocks lie below each other first, and then side by side.
std::optional<Shape> slice_offsets(const ir::Program& program, const ir::Op& op);

}  // namespace twill::execute
