#pragma once

#include "twill/problem/ops.h"

namespace twill::extract {

/// Adds a dependence of pure order from each reader of a value in registers to the op that
/// overwrites it in place. Only if one group must run both, as the only one of their width. In
/// several groups the reader may have a copy of its own, so no order is needed. The same holds
/// where the reader waits for the overwriting op, which takes a copy, too. To be called before
/// transfer ops are added. Cost: about dependences times ops.
void put_readers_first(problem::Parts& parts);

}  // namespace twill::extract
