#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "twill/schedule/schedule.h"

/// Printers of facts about a scheduled loop. They decide nothing.
namespace twill::report {

/// Draws the steady state in plain ASCII: one interval of II cycles, from left to right. Units come
/// first, with the ops that hold them; then groups, with the ops that they issue.
///
///     TC   |qkA 000000|pvB 111111|qkB 000000|pvA 000000
///
/// A bar begins with `|` and is filled with the last digit of its stage: the number of intervals
/// since its iteration began. A name that does not fit into its bar stands beside it, and bars that
/// would overlap in print are drawn on further lines. Bars of units are as long as the unit is
/// held, bars of groups as long as the warps are held by issuing. No line is longer than `width`.
/// Cost: O(ops * lines).
std::string draw_steady_state(const problem::Problem& problem, const schedule::Schedule& schedule,
                              std::size_t width = 100);

}  // namespace twill::report
