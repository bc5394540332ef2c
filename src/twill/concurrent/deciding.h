#pragma once

#include <optional>
#include <set>

#include "twill/ir/program.h"

namespace twill::concurrent {

/// Ops that must be computed with their tiles so that roles do what they do. Examples: the number
/// of a tile that a role draws and hands on through shared memory, and all that this number is made
/// of. Nothing where a floating-point tile decides, such as a sum: then all tiles must be computed.
/// Cost: linear in the ops.
std::optional<std::set<ir::OpId>> deciding_ops(const ir::Program& program, ir::OpId function);

}  // namespace twill::concurrent
