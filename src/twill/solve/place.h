#pragma once

#include <optional>

#include "twill/schedule/schedule.h"
#include "twill/solve/instance.h"

namespace twill::solve {

/// Adds to the schedule an offset for every value that lives in a memory (rule `placement`). Low
/// offsets that are found quickly, else the schedule's own, if they obey the rule. Empty if both
/// fail; other offsets may exist then. Adds no offsets if the rule is relaxed. Cost: cubic in the
/// number of buffers, and a bounded search.
std::optional<schedule::Schedule> with_addresses(const Instance& instance,
                                                 const schedule::Schedule& schedule);

}  // namespace twill::solve
