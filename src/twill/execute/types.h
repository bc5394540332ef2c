#pragma once

#include "twill/ir/program.h"
#include "twill/support/diagnostic.h"

/// Whether the types of ops are those that their meaning takes: evaluation goes by one type where
/// an op has several that say the same.
namespace twill::execute {

/// Fails, with the op's line, at the first op of a function whose types do not fit each other
/// (`ir::misfit`), or that makes a tile of dynamic extents. Cost: linear in the ops.
Result<void> check_types(const ir::Program& program, ir::OpId function);

}  // namespace twill::execute
