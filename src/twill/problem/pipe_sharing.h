#pragma once

#include <span>
#include <vector>

#include "twill/problem/problem.h"

namespace twill::problem {

/// The share of a pipe that the asynchronous ops together, and the groups together, can each count
/// on when both want more than there is. Within either side it is divided max-min fairly.
inline constexpr double kGuaranteedShare = 0.5;

/// Something that runs: what it takes of each pipe at full speed, as shares of the pipe.
struct PipeLoad {
  bool asynchronous = false;
  std::vector<double> share;  ///< by PipeId, 0 to 1
};

/// How fast each of them runs beside the others, from 0 to 1.
///
/// What the asynchronous side needs less than its half goes to the groups, and the other way round.
/// An op whose instructions wait at a port because an asynchronous op (a streaming tensor core)
/// takes part of it cannot keep its pipes busy at the same time any more: it needs the sum of what
/// it needs on each. Cost: loads^2 * pipes.
std::vector<double> speeds_of(std::span<const PipeLoad* const> loads, std::span<const Pipe> pipes);

}  // namespace twill::problem
