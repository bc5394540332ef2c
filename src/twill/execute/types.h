#pragma once

#include "twill/ir/program.h"
#include "twill/support/diagnostic.h"

/// Whether the types of ops are those that their meaning takes. A reader keeps what the text says;
/// evaluation goes by one type where an op has several that say the same.
namespace twill::execute {

/// Fails, with the op's line, at the first op of a function that execution knows and whose operands
/// and results do not fit each other: shapes, elements, and what blocks hand on. Ops that are not
/// known pass: they are refused when they are met. Cost: linear in the ops.
Result<void> check_types(const ir::Program& program, ir::OpId function);

}  // namespace twill::execute
