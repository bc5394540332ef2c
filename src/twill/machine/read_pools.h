#pragma once

#include <vector>

#include "twill/machine/json_node.h"
#include "twill/machine/machine.h"

namespace twill::machine {

/// Member "pools" of a machine file. Groups that share registers get their shares. Precondition:
/// `machine` has its numbers.
Result<std::vector<Pool>> read_pools(const JsonNode& root, const Description& machine);

}  // namespace twill::machine
