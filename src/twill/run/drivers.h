#pragma once

#include <set>
#include <string>
#include <vector>

#include "twill/run/kernel.h"

namespace twill::run {

/// The integer arguments on which the bounds of the main loop depend, by name, ascending.
/// Cost: linear in the ops that the bounds come from.
std::set<std::string> drivers_of(const Kernel& kernel);

/// The axes of the grid that the kernel's text asks for, as bits: 1 x, 2 y, 4 z.
unsigned axes_of(const Kernel& kernel);

}  // namespace twill::run
