#pragma once

#include "twill/ir/program.h"

/// Copies into shared memory that Triton makes of loads through pointers.
namespace twill::device {

/// Whether cp.async can bring a tile. It copies at least four bytes in a piece, which lie together
/// in both memories, and leaves zeros where the mask is false; Triton drops another value in
/// silence.
bool fits_cp_async(const ir::Program& program, ir::OpId load);

}  // namespace twill::device
