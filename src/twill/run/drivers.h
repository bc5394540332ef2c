#pragma once

#include <set>
#include <string>
#include <vector>

#include "twill/run/kernel.h"

namespace twill::run {

/// Integer arguments by name, ascending.
struct Drivers {
  std::set<std::string> bounds;  ///< drive the first or the last index of the loop
  std::set<std::string> steps;   ///< drive the step only: with 0 the loop does not run
};

/// Drivers of the main loop. Cost: linear in the ops from which the bounds are computed.
Drivers drivers_of(const Kernel& kernel);

/// Axes of the grid whose program ids the kernel's text reads, as bits: 1 x, 2 y, 4 z.
unsigned axes_of(const Kernel& kernel);

}  // namespace twill::run
