#pragma once

#include <optional>

#include "twill/problem/problem.h"
#include "twill/schedule/schedule.h"

namespace twill::solve {

/// The schedule with the groups, the ways, the stages and the order of ops of `known`, which is of
/// another Problem with these ops, and with the least II for them. None if these cannot be had
/// here, need an II of more than `most`, if that is given, or do not fit into memories and
/// registers. Says nothing of the least number of compute groups: what is found is to be checked.
/// No search. Cost: that of an instance, and some runs of Bellman-Ford.
std::optional<schedule::Schedule> follow(const problem::Problem& problem,
                                         const schedule::Schedule& known,
                                         std::optional<Cycles> most = {});

}  // namespace twill::solve
