#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "twill/problem/problem.h"

namespace twill::solve_test {

/// Asks Z3 whether `problem` (ops with one alternative each) has a schedule at `ii`. Its first
/// objectives are exactly `values` and the next one at most `limit`. The encoding in absolute issue
/// cycles shares nothing with the solver's. Empty if Z3 does not know.
std::optional<bool> z3_feasible(const problem::Problem& problem, Cycles ii,
                                const std::vector<std::int64_t>& values,
                                std::optional<std::int64_t> limit);

}  // namespace twill::solve_test
