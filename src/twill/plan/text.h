#pragma once

#include <string>

#include "twill/plan/plan.h"

namespace twill::plan {

/// The plan as text for people: roles and warpgroups, buffers, channels, and the steps of each role
/// with their slots in the schedule.
std::string to_text(const Plan& plan);

/// One step in words: "wait load0 [n-1]", "issue mma0 [n]"; `n` is the window's own iteration, `N`
/// the trip count.
std::string to_text(const Plan& plan, const Step& step);

}  // namespace twill::plan
