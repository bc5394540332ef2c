#pragma once

#include <optional>
#include <string>
#include <vector>

#include "twill/problem/ops.h"
#include "twill/schedule/schedule.h"

/// Lower bounds on the initiation interval that can be read off a Problem without search. Each
/// bound holds for every choice of alternatives, and counts only rules in force.
namespace twill::schedule {

/// One bound per reason: each exclusive unit (ResMII), each shared pipe, the slowest recurrence
/// (RecMII), the longest op, the groups' issue cycles, and 1. The largest value comes first; equal
/// values in the order of BoundKind, then of the resources. Never empty.
std::vector<Bound> lower_bounds(const problem::Problem& problem);

/// Bounds as in `lower_bounds`, but one per recurrence (critical_recurrences), and one per op that
/// keeps a resource to itself. The list shows the next limits of the loop once the first bound is
/// mended.
std::vector<Bound> all_lower_bounds(const problem::Problem& problem);

/// MinII, the first of `lower_bounds`, with a witness.
Bound min_ii(const problem::Problem& problem);

/// Reason, in one sentence, why no schedule exists at any II, where no search is needed to see it.
/// Examples: an op that no group of the pool may run, a value that fits in no memory or register
/// file. An empty result does not mean that a schedule exists.
std::optional<std::string> never_feasible(const problem::Problem& problem);

}  // namespace twill::schedule
