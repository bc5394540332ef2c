#pragma once

#include <vector>

#include "twill/problem/ops.h"

namespace twill::problem {

/// Finds a circuit of dependences whose distances are all 0; empty if there is none. Each
/// dependence starts where the previous one ends; the first starts at the circuit's lowest id.
/// Reads dependences only, whose ids must be in range. Cost: O(ops + dependences).
std::vector<DependenceId> circuit_of_distance_zero(const Parts& parts);

}  // namespace twill::problem
