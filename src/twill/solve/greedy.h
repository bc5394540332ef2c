#pragma once

#include <optional>

#include "twill/schedule/schedule.h"
#include "twill/solve/instance.h"

namespace twill::solve {

/// A schedule found without search, for loops too large to find one by it: ops that hand each other
/// values in registers go to one group, each op goes where it first fits modulo II, loads as late
/// as they may, at growing IIs. Obeys all rules; of an instance without hand-offs. Nothing if none
/// of its tries does. It promises nothing about how good it is; it is good where one unit sets the
/// pace. Cost of a try: at least quadratic in the ops.
std::optional<schedule::Schedule> greedy_schedule(const Instance& instance);

}  // namespace twill::solve
