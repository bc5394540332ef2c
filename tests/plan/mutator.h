#pragma once

#include <string>

#include "twill/plan/plan.h"

namespace twill::plan::testing {

/// A plan that differs from another in one place.
struct Mutant {
  std::string what;  ///< the place, and the values before and after
  Plan plan;
};

/// One change of a plan, drawn by `seed`. A step is dropped, moved, doubled, swapped with its
/// neighbour or altered, in the loop or outside. Or a count, depth, parity or number of bytes of a
/// channel; place, size or depth of a buffer; warps and registers of a role or warpgroup; a limit
/// of the launch. The same seed gives the same change. The result always differs from the plan.
/// Precondition: the plan has a kernel. Cost: a copy of the plan for each of a few tries.
Mutant mutant_of(const Plan& plan, unsigned seed);

}  // namespace twill::plan::testing
