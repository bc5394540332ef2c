#pragma once

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// Checks the consistency of a Program, for known ops. Number and types must agree for loop-carried
/// values, for values of conditionals, functions and blocks, and for operands of element-wise ops.
/// Regions that need a terminator must have one. `misfit` checks the types of other ops. Unknown
/// types are accepted. Fails at the first violation in the order of the text; its `source_line` is
/// empty.
Result<void> check_structure(const ir::Program& program);

}  // namespace twill::frontend::ttgir
