#pragma once

#include <optional>

#include "twill/schedule/schedule.h"
#include "twill/solve/instance.h"

namespace twill::solve {

/// Finds a schedule without search, for loops that are too large for a search. A list scheduler in
/// the manner of iterative modulo scheduling (Rau, MICRO 1994), without its backtracking.
///
/// Ops that exchange values in registers share a group. Groups get like amounts of work; where that
/// fails, like amounts of values that are carried to later iterations. Each op goes where it first
/// fits modulo II, loads as late as they may, at growing IIs. The result obeys all rules, for an
/// instance without transfer ops; empty if no try finds one. It may be far from the best, and is
/// good where one unit is the bottleneck. Cost of a try: at least quadratic in the ops.
std::optional<schedule::Schedule> greedy_schedule(const Instance& instance);

}  // namespace twill::solve
