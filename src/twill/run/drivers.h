#pragma once

#include <set>
#include <string>
#include <vector>

#include "twill/run/kernel.h"

namespace twill::run {

/// Integer arguments by name, ascending.
struct Drivers {
  std::set<std::string> bounds;  ///< on which the first or the last index of the loop depends
  std::set<std::string> steps;   ///< on which nothing but its step depends: 0 runs no loop
};

/// Those of the main loop. Cost: linear in the ops that the bounds come from.
Drivers drivers_of(const Kernel& kernel);

/// The axes of the grid that the kernel's text asks for, as bits: 1 x, 2 y, 4 z.
unsigned axes_of(const Kernel& kernel);

}  // namespace twill::run
