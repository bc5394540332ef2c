#pragma once

#include <vector>

#include "twill/problem/problem.h"

namespace twill::problem {

/// A circuit of dependences whose distances are all 0, in order, each dependence starting at the op
/// where the one before ends, the first one at the op of the lowest id; empty if there is none.
/// Only the dependences are looked at, and their ids must be in range. Cost: O(ops + dependences).
std::vector<DependenceId> circuit_of_distance_zero(const Parts& parts);

}  // namespace twill::problem
