#pragma once

#include <string>

#include "twill/support/diagnostic.h"
#include "twill/tasks/levels.h"

/// Internal to the driver: what a mapping has to know of its machine.
namespace twill::driver {

/// The machine that is taken for sm_90 if nothing is said.
inline constexpr const char* kHopper = "h200";

/// The levels of that machine (as in Request), else of the mapping's, else of kHopper. Fails (M15)
/// if the mapping's is unknown.
Result<tasks::Levels> levels_for(const std::string& machine, const tasks::Mapping& mapping);

}  // namespace twill::driver
