#pragma once

#include <vector>

#include "twill/problem/ops.h"

/// Internal to the room: the order that Triton's own pipelining adds to the source's.
namespace twill::strategy {

/// Adds to `parts` (those of `problem`) the order that Triton 3.6 prints for Hopper without warp
/// specialization. A product that its own iteration reads is waited for at once; others stay in
/// flight. All groups meet before the wait for a load, and before copies are filled anew.
/// `streams`: the ops of each group, its loads last. `stages`: by OpId, as in Program.
void order_as_plain(problem::Parts& parts, const problem::Problem& problem,
                    const std::vector<std::vector<problem::OpId>>& streams,
                    const std::vector<Cycles>& stages);

}  // namespace twill::strategy
