#pragma once

#include <string>
#include <vector>

#include "twill/schedule/schedule.h"

namespace twill::report {

/// Use of one resource in an interval.
struct Load {
  enum class Kind { unit, pipe, group };
  Kind kind = Kind::unit;
  std::string name;
  Cycles cycles = 0;  ///< occupancies of a unit, demands on a pipe, issue cycles of a group
};

/// Loads of every unit, then every pipe, then every group of the problem, in its order, idle ones
/// included.
std::vector<Load> loads_of(const problem::Problem& problem, const schedule::Schedule& schedule);

}  // namespace twill::report
