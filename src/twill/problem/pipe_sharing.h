#pragma once

#include <span>
#include <vector>

#include "twill/problem/ops.h"

namespace twill::problem {

/// Share of a pipe that is guaranteed to the asynchronous ops together, and to the groups together,
/// when both sides want more than there is. Within a side, the pipe is divided max-min fairly.
inline constexpr double kGuaranteedShare = 0.5;

/// Work in progress: demands at full speed, as shares of each pipe.
struct PipeLoad {
  bool asynchronous = false;
  std::vector<double> share;  ///< by PipeId, 0 to 1
};

/// Computes the speed of each load beside the others, from 0 to 1.
///
/// A side that needs less than its half leaves the rest to the other side. Instructions of an op
/// may pass a port that an asynchronous op (a streaming tensor core) partly fills. Such an op
/// cannot keep several pipes busy at the same time: it needs the sum of its times on each pipe.
/// Cost: loads^2 * pipes.
std::vector<double> speeds_of(std::span<const PipeLoad* const> loads, std::span<const Pipe> pipes);

}  // namespace twill::problem
