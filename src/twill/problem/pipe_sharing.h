#pragma once

#include <span>
#include <vector>

#include "twill/problem/ops.h"

namespace twill::problem {

/// Guaranteed share of a pipe for the asynchronous ops together, and for the groups together, when
/// both want more than there is. Within either side the pipe is divided max-min fairly.
inline constexpr double kGuaranteedShare = 0.5;

/// Work in progress: its demands at full speed, as shares of each pipe.
struct PipeLoad {
  bool asynchronous = false;
  std::vector<double> share;  ///< by PipeId, 0 to 1
};

/// Speed of each load beside the others, from 0 to 1.
///
/// A side that needs less than its half leaves the rest to the other side. Instructions of an op
/// may wait at a port of which an asynchronous op (a streaming tensor core) takes part. Then the op
/// cannot keep its pipes busy at the same time: it needs the sum of its times on each. Cost:
/// loads^2 * pipes.
std::vector<double> speeds_of(std::span<const PipeLoad* const> loads, std::span<const Pipe> pipes);

}  // namespace twill::problem
