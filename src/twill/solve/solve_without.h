#pragma once

#include "twill/solve/exclusion.h"
#include "twill/solve/solve.h"

namespace twill::solve {

/// Solves as `solve` does, over the schedules whose structure is not excluded. Preconditions:
/// `most_interval` is set and `proof` is not. `undecided` with a lower bound above `most_interval`
/// means that there is no other structure.
schedule::Answer solve_without(const problem::Problem& problem, const Exclusion& exclusion,
                               const Options& options);

}  // namespace twill::solve
