#pragma once

#include <cstddef>
#include <vector>

#include "twill/driver/candidates.h"

/// Internal to the driver: candidates in the place of schedules that have no plan, found in Problems
/// that demand more, so that a plan is likelier. Each adds, for every one of the first `proposed`
/// steps that was refused, the best schedule of that narrower Problem. Of what the outcomes say is
/// proven only the lower bounds stay. Nothing is added for another strategy than `twill`.
namespace twill::driver {

/// For each refused step: the best schedule without cross-group values, so without staging.
Result<void> add_at_home(const Request& request, const Reading& reading, std::size_t proposed,
                         std::vector<Step>& steps);

/// For each refused step: the best schedule with addresses for all buffers, and memory for its
/// transfers. It reserves the step's own amount, and more while that is too little.
Result<void> add_with_room(const Request& request, const Reading& reading, std::size_t proposed,
                           std::vector<Step>& steps);

}  // namespace twill::driver
