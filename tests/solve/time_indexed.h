#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "solve/cnf.h"
#include "twill/problem/problem.h"

namespace twill::solve_test {

/// Question "has `problem` a schedule at `ii`?" in the time-indexed form: a boolean for each op and
/// cycle of its issue, for each op and group, and for each op and alternative. The form is written
/// from docs/reference/rules.md and shares nothing with the solver: no residues, no stages, no
/// differences. Every two issue cycles that a rule forbids are a clause.
///
/// `values`: the first objectives are at most these. Satisfiable exactly if there is such a
/// schedule: issues are below `horizon_of(problem, ii)`, which is no restriction. For a handful of
/// ops and cycles. Precondition: no transfers. Cost: O(ops^2 * alternatives^2 * horizon^2).
Cnf time_indexed(const problem::Problem& problem, Cycles ii,
                 const std::vector<std::int64_t>& values);

/// Number of issue cycles that suffices. Take any schedule, and keep the slot of each op and the
/// number of copies of each value. Dependences and the lives of values then relate the stages of
/// two ops. Each relation is a least difference of at most `far` stages, or a largest one. If such
/// differences have a solution, they have one in which each op is at most `far` above another. So
/// no stage is above (ops - 1) * far.
Cycles horizon_of(const problem::Problem& problem, Cycles ii);

}  // namespace twill::solve_test
