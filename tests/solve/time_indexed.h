#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "solve/cnf.h"
#include "twill/problem/problem.h"

namespace twill::solve_test {

/// "Has `problem` a schedule at `ii`?" in the time-indexed form: a boolean for each op and cycle of
/// its issue, for each op and group, and for each op and way. It is written from
/// docs/reference/rules.md and shares nothing with the solver: no residues, no stages, no
/// differences; every two issue cycles that a rule forbids are a clause.
///
/// `values`: the first objectives are at most these. Satisfiable exactly if there is such a
/// schedule: issues are below `horizon_of(problem, ii)`, which is no restriction. Meant for a
/// handful of ops and cycles. Precondition: no hand-offs.
/// Cost: O(ops^2 * ways^2 * horizon^2).
Cnf time_indexed(const problem::Problem& problem, Cycles ii,
                 const std::vector<std::int64_t>& values);

/// Issue cycles that are enough. Take any schedule, and keep the slot of each op and the number of
/// copies of each value. What then relates the stages of two ops is the dependences and the lives
/// of values, each a least difference of at most `far` stages, or a largest one. Where there is a
/// solution of such differences there is one in which each op is at most `far` above another, so
/// no stage is above (ops - 1) * far.
Cycles horizon_of(const problem::Problem& problem, Cycles ii);

}  // namespace twill::solve_test
