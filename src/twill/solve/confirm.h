#pragma once

#include <span>

#include "twill/problem/ops.h"
#include "twill/schedule/schedule.h"
#include "twill/solve/decide.h"
#include "twill/solve/solve.h"

/// Refutations of what an answer claims to be impossible, each searched for by itself, so that
/// `Options::proof` receives it. The search for the answer stays free to take any way.
namespace twill::solve {

/// Asks for a schedule that contradicts the levels: an II below the first bound; or at the first
/// value, with every level before at most at its value, a level below its bound. `levels` are the
/// II and then objectives, in the order of the Problem; it may end early.
///
/// - `infeasible`: there is none, and every refutation that this needs was reported.
/// - `feasible`: there is one, so that the levels claim too much.
/// - `undecided`: a limit ended the search.
///
/// With several combinations of alternatives, those whose resources and circuits alone need a
/// larger II are skipped. The search begins at `options.start`; `hurry_after` and `most_interval`
/// are ignored. Precondition: `levels` is not empty.
Decision confirm(const problem::Problem& problem, std::span<const schedule::ObjectiveValue> levels,
                 const Options& options);

/// Asks for a schedule at any II, to contradict a claim that there is none.
Decision confirm_infeasible(const problem::Problem& problem, const Options& options);

}  // namespace twill::solve
