#pragma once

#include <vector>

#include "twill/problem/ops.h"

namespace twill::problem {

/// A circuit of dependences whose distances are all 0; empty if there is none. In order: each
/// starts where the one before ends, the first at the op of the lowest id. Reads the dependences
/// only, whose ids must be in range. Cost: O(ops + dependences).
std::vector<DependenceId> circuit_of_distance_zero(const Parts& parts);

}  // namespace twill::problem
