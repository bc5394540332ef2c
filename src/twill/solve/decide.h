#pragma once

#include <cstdint>
#include <optional>

#include "twill/problem/problem.h"
#include "twill/schedule/schedule.h"
#include "twill/solve/solve.h"

namespace twill::solve {

enum class Decided { feasible, infeasible, undecided };

struct Decision {
  Decided decided = Decided::undecided;
  std::optional<schedule::Schedule> schedule;  ///< if feasible: its II is at most the one asked for
  std::uint64_t work = 0;
};

/// Whether `problem` has a schedule with an II of at most `ii`. The cheap question: nothing is
/// minimized, and what the bounds refute is not searched. `infeasible` is proven, `feasible` comes
/// with a schedule that obeys the rules in force, `undecided` ran into a limit. Deterministic.
Decision decide(const problem::Problem& problem, Cycles ii, const Options& options = {});

}  // namespace twill::solve
