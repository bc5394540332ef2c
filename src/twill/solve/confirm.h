#pragma once

#include <span>

#include "twill/problem/ops.h"
#include "twill/schedule/schedule.h"
#include "twill/solve/decide.h"
#include "twill/solve/solve.h"

/// Refutations for the claims of an answer, each searched for separately and reported to
/// `Options::proof`. So the search for the answer is free to use any method.
namespace twill::solve {

/// Looks for a schedule that contradicts the levels. Such a schedule has an II below the first
/// bound. Or it has the first value as its II, every level before at most at its value, and a level
/// below its bound. `levels` are the II and then objectives, in the order of the Problem; the list
/// may end early.
///
/// - `infeasible`: there is none, and every refutation that this needs was reported.
/// - `feasible`: there is one, so the levels claim too much.
/// - `undecided`: a limit ended the search.
///
/// With several combinations of alternatives, combinations whose resources and circuits alone need
/// a larger II are skipped. The search begins at `options.start`; `hurry_after` and `most_interval`
/// are ignored. Precondition: `levels` is not empty.
Decision confirm(const problem::Problem& problem, std::span<const schedule::ObjectiveValue> levels,
                 const Options& options);

/// Looks for a schedule at any II, to contradict a claim that there is none.
Decision confirm_infeasible(const problem::Problem& problem, const Options& options);

}  // namespace twill::solve
