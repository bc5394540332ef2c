#pragma once

#include <optional>

#include "twill/schedule/schedule.h"
#include "twill/solve/budget.h"
#include "twill/solve/candidate.h"
#include "twill/solve/instance.h"

namespace twill::solve {

/// A first schedule of a Problem with hand-offs, which multiply the ops that a search has to place:
/// with hand-offs taken for delays, the groups are found quickly, and with the groups given, what
/// they need of hand-offs is an ordinary Problem. Nothing if that leads nowhere, or without
/// hand-offs. It promises nothing about how good it is. Spends some of the budget.
std::optional<schedule::Schedule> guess_by_delays(const Candidate& candidate, Budget& budget);

/// A first schedule of a loop that was unrolled in the source: the best one found of the loop
/// rolled up, once per turn. Obeys all rules, and is optimal where that one is at a bound that adds
/// up. Nothing for other loops. Spends some of the budget.
std::optional<schedule::Schedule> guess_unrolled(const Instance& instance, Budget& budget);

}  // namespace twill::solve
