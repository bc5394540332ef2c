#pragma once

#include <optional>

#include "twill/schedule/schedule.h"
#include "twill/solve/instance.h"

namespace twill::solve {

/// The schedule with an offset for every value that lives in a memory (rule `placement`). Low
/// offsets that are found quickly, else its own, if they obey the rule. Empty without either; other
/// offsets may exist then. Without offsets if the rule is relaxed. Cost: cubic in the number of
/// buffers, and a bounded search.
std::optional<schedule::Schedule> with_addresses(const Instance& instance,
                                                 const schedule::Schedule& schedule);

}  // namespace twill::solve
