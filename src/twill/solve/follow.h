#pragma once

#include <optional>

#include "twill/problem/ops.h"
#include "twill/schedule/schedule.h"

namespace twill::solve {

/// Finds the schedule of least II with the groups, alternatives, stages and order of ops of
/// `known`, a schedule of another Problem with these ops. Empty if these are impossible here, do
/// not fit into memories and registers, or need an II above `most`, if given. The caller checks the
/// rule on the least number of compute groups. No search. Cost: that of an instance, and some runs
/// of Bellman-Ford.
std::optional<schedule::Schedule> follow(const problem::Problem& problem,
                                         const schedule::Schedule& known,
                                         std::optional<Cycles> most = {});

}  // namespace twill::solve
