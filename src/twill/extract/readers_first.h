#pragma once

#include "twill/problem/problem.h"

namespace twill::extract {

/// What reads a value in registers comes before what overwrites it in place: a dependence of pure
/// order for each such pair of ops that one group must run, since the pool has no other of their
/// width. In several groups the reader may have a copy of its own, so that nothing is demanded.
/// Nor is it where the reader waits for what overwrites: that takes a copy, too. Call before ops of
/// hand-offs are added. Cost: about dependences times ops.
void put_readers_first(problem::Parts& parts);

}  // namespace twill::extract
