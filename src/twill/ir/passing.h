#pragma once

#include <set>
#include <utility>
#include <vector>

#include "twill/ir/program.h"

/// Paths of values to other blocks, and values computed from tiles.
namespace twill::ir {

/// Pairs of values that name one value in two blocks: carried or forwarded by
/// a loop, or yielded by a branch.
std::vector<std::pair<ValueId, ValueId>> passed_on(const Program& program, OpId op);

/// Value outside of a partition that a captured value stands for; nullopt for other values.
std::optional<ValueId> captured(const Program& program, ValueId value);

/// Tiles in `within` that are loaded or multiplied, and all values with such an operand.
/// Cost: ops times the depth of what loops carry.
std::set<ValueId> computed_of_tiles(const Program& program, OpId within);

}  // namespace twill::ir
