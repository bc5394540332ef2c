#pragma once

#include "twill/problem/ops.h"

namespace twill::extract {

/// Adds a dependence of pure order from each reader of a value in registers to the op that
/// overwrites the value in place. Added only if one group, the only one of their width, must run
/// both. In several groups, the reader may have a copy of its own, so no order is needed. No order
/// is needed either if the reader waits for the overwriting op: it takes a copy, too. Precondition:
/// transfer ops have not been added. Cost: about dependences times ops.
void put_readers_first(problem::Parts& parts);

}  // namespace twill::extract
