#pragma once

#include "twill/ir/program.h"
#include "twill/support/diagnostic.h"

/// Checks that the types of an op agree with each other. Evaluation reads only one of several types
/// that must match.
namespace twill::execute {

/// Fails, with the op's line, at the first op of a function whose types do not fit (`ir::misfit`).
/// Also fails for tiles of dynamic extents. Cost: linear in the ops.
Result<void> check_types(const ir::Program& program, ir::OpId function);

}  // namespace twill::execute
