#pragma once

#include <optional>

#include "twill/schedule/schedule.h"
#include "twill/solve/instance.h"

namespace twill::solve {

/// The schedule with an offset for every value that lives in a memory (rule `placement`): low ones
/// that are found quickly, else those that it has, if they obey the rule. None if neither is there;
/// other offsets may be possible then. Without offsets if the rule is relaxed.
/// Cost: cubic in the number of buffers, and a bounded search.
std::optional<schedule::Schedule> with_addresses(const Instance& instance,
                                                 const schedule::Schedule& schedule);

}  // namespace twill::solve
