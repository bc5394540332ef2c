#pragma once

#include <optional>

#include "twill/schedule/schedule.h"
#include "twill/solve/budget.h"
#include "twill/solve/candidate.h"

namespace twill::solve {

/// A first schedule of a Problem with hand-offs, which multiply the ops that a search has to place:
/// with hand-offs taken for delays, the groups are found quickly, and with the groups given, what
/// they need of hand-offs is an ordinary Problem. Nothing if that leads nowhere, or without
/// hand-offs. It promises nothing about how good it is. Spends some of the budget.
std::optional<schedule::Schedule> guess(const Candidate& candidate, Budget& budget);

}  // namespace twill::solve
