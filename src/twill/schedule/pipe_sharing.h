#pragma once

#include <span>
#include <vector>

#include "twill/problem/problem.h"

namespace twill::schedule {

/// Something that runs: what it takes of each pipe at full speed, as shares of the pipe.
struct PipeLoad {
  bool asynchronous = false;
  std::vector<double> share;  ///< by PipeId, 0 to 1
};

/// How fast each of them runs beside the others, from 0 to 1. Synchronous and asynchronous loads
/// are each guaranteed half of a pipe (see kGuaranteedShare); what the asynchronous ones need less
/// goes to the synchronous ones, and the other way round. Cost: loads^2 * pipes.
std::vector<double> speeds_of(std::span<const PipeLoad* const> loads, std::size_t pipes);

}  // namespace twill::schedule
