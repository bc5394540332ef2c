#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "twill/problem/ops.h"
#include "twill/schedule/schedule.h"
#include "twill/solve/solve.h"

namespace twill::solve {

enum class Decided { feasible, infeasible, undecided };

struct Decision {
  Decided decided = Decided::undecided;
  std::optional<schedule::Schedule> schedule;  ///< if feasible: a schedule with an II of at most
                                               ///< the limit
  std::uint64_t work = 0;
};

/// Decides whether `problem` has a schedule with an II of at most `ii`. This is cheap: nothing is
/// minimized, and intervals that the bounds refute are not searched. `infeasible` is proven,
/// `feasible` comes with a schedule that obeys the rules in force, `undecided` means that a limit
/// ended the search. Deterministic.
Decision decide(const problem::Problem& problem, Cycles ii, const Options& options = {});

/// Decides whether `problem` has a schedule that is better than `values`: its II and objectives, in
/// order, are lexicographically less. If there is none, this is cheaper than a search for the best
/// schedule; if there is one, search for the best instead. Precondition: `values` starts with an
/// II, and has at most one value more for each objective.
Decision decide_better(const problem::Problem& problem, std::span<const std::int64_t> values,
                       const Options& options = {});

/// Tries to refute that `problem` has a schedule at any II: `infeasible`, or else `undecided`. Far
/// cheaper than a search, since no more than one live copy of each value is counted. Obeys
/// `options.room_for_staging`.
Decision refute_all(const problem::Problem& problem, const Options& options = {});

}  // namespace twill::solve
