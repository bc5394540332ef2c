#pragma once

#include <vector>

#include "twill/machine/json_node.h"
#include "twill/machine/machine.h"

namespace twill::machine {

/// Member "operations" of a machine file: the rules by which ops are priced, by kind. Precondition:
/// `machine` has its units and pipes.
Result<std::vector<CostRule>> read_operations(const JsonNode& root, const Description& machine);

}  // namespace twill::machine
