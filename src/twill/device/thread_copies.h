#pragma once

#include "twill/ir/program.h"

/// Copies into shared memory that Triton makes of loads through pointers.
namespace twill::device {

/// Whether cp.async can bring a tile. It copies pieces of at least four bytes, adjacent in both
/// memories, and writes zeros where the mask is false. Triton ignores another fill value without an
/// error.
bool fits_cp_async(const ir::Program& program, ir::OpId load);

}  // namespace twill::device
