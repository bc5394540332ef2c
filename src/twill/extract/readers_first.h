#pragma once

#include "twill/problem/problem.h"

namespace twill::extract {

/// Adds a dependence of pure order from each reader of a value in registers to the op that
/// overwrites it in place, if one group must run both: the pool has no other of their width. In
/// several groups the reader may have a copy of its own, so that nothing is demanded. Nor is it
/// where the reader waits for the op that overwrites: that takes a copy, too. Call before ops of
/// hand-offs are added. Cost: about dependences times ops.
void put_readers_first(problem::Parts& parts);

}  // namespace twill::extract
