#pragma once

#include <random>
#include <string>

#include "twill/problem/problem.h"
#include "twill/schedule/schedule.h"

namespace twill::plan::testing {

/// A small random loop with all parts of plans: loads, stores, tensor-core work in registers and in
/// tensor memory. Roles have one or two warps. Values lie in registers and in memory, are updated
/// in place, carried, transferred, or only ordered.
problem::Problem random_loop(std::mt19937& random);

/// `best`, slowed down and with ops moved as far as the rules allow, like a schedule by a strategy
/// that does not search. Obeys all rules in force.
schedule::Schedule disturbed(std::mt19937& random, const problem::Problem& problem,
                             const schedule::Schedule& best);

}  // namespace twill::plan::testing
