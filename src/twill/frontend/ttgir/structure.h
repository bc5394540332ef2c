#pragma once

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// Checks the consistency of a Program, for known ops. Number and types must agree for loop-carried
/// values, for values of conditionals, functions and blocks, and for operands of element-wise ops.
/// Regions that need a terminator must have one. Types of other ops are checked by `misfit`. Types
/// that could not be inferred pass. The first violation in order of the text is returned; its
/// `source_line` is empty.
Result<void> check_structure(const ir::Program& program);

}  // namespace twill::frontend::ttgir
