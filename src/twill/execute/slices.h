#pragma once

#include <optional>

#include "twill/execute/tile.h"
#include "twill/ir/program.h"

namespace twill::execute {

/// The first index, in each dimension, of the part of a buffer that a buffer_slice or tensor_slice
/// takes. Nullopt where offsets and types do not fit. Nullopt also within tensor memory of several
/// blocks of rows: these lie below each other before they lie side by side.
std::optional<Shape> slice_offsets(const ir::Program& program, const ir::Op& op);

}  // namespace twill::execute
