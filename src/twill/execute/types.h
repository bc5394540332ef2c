#pragma once

#include "twill/ir/program.h"
#include "twill/support/diagnostic.h"

/// Whether the types of ops are those that their meaning takes: evaluation goes by one type where
/// an op has several that say the same.
namespace twill::execute {

/// Fails, with the op's line, at the first op of a function whose types do not fit (`ir::misfit`).
/// Fails for tiles of dynamic extents, too. Cost: linear in the ops.
Result<void> check_types(const ir::Program& program, ir::OpId function);

}  // namespace twill::execute
