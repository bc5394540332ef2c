#pragma once

#include <set>
#include <utility>
#include <vector>

#include "twill/ir/program.h"

/// Ways of values to other blocks, and values computed from tiles.
namespace twill::ir {

/// Pairs of values of which the second is the first in another block: what a loop carries, what a
/// branch yields.
std::vector<std::pair<ValueId, ValueId>> passed_on(const Program& program, OpId op);

/// Value that a capture of a partition stands for; nullopt for other values.
std::optional<ValueId> captured(const Program& program, ValueId value);

/// Tiles in `within` that are loaded or multiplied, and all values with such an operand.
/// Cost: ops times the depth of what loops carry.
std::set<ValueId> computed_of_tiles(const Program& program, OpId within);

}  // namespace twill::ir
