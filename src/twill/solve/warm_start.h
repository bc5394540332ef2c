#pragma once

#include <optional>

#include "twill/schedule/schedule.h"
#include "twill/solve/budget.h"
#include "twill/solve/candidate.h"
#include "twill/solve/instance.h"

namespace twill::solve {

/// Finds a first schedule of a Problem with transfer ops, which multiply the ops that a search has
/// to place. With transfers as delays, groups are found quickly; with the groups given, the
/// residual problem is an ordinary one. Empty if no schedule is found, or without transfer ops. Any
/// schedule may result, good or bad. Spends some of the budget.
std::optional<schedule::Schedule> start_by_delays(const Candidate& candidate, Budget& budget);

/// Finds a first schedule of a loop that was unrolled in the source: the best schedule found for
/// the rerolled loop, once per turn. Obeys all rules. Optimal where the rerolled loop reaches a
/// bound that multiplies by the turns. Empty for other loops. Spends some of the budget.
std::optional<schedule::Schedule> start_unrolled(const Instance& instance, Budget& budget);

}  // namespace twill::solve
