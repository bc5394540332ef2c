#pragma once

#include <vector>

#include "twill/machine/json_node.h"
#include "twill/machine/machine.h"

namespace twill::machine {

/// The member "processors" of a machine file.
Result<std::vector<Processor>> read_processors(const JsonNode& root);

}  // namespace twill::machine
