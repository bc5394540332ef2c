#pragma once

#include <string>

#include "twill/support/diagnostic.h"
#include "twill/tasks/levels.h"

/// Internal to the driver: facts of a machine that a mapping needs.
namespace twill::driver {

/// Default machine for sm_90.
inline constexpr const char* kHopper = "h200";

/// The levels of that machine (as in Request). By default the mapping's machine, else kHopper.
/// Fails (M15) if the mapping's machine is unknown.
Result<tasks::Levels> levels_for(const std::string& machine, const tasks::Mapping& mapping);

}  // namespace twill::driver
