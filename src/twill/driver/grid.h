#pragma once

#include <optional>

#include "twill/driver/kernel.h"
#include "twill/plan/plan.h"
#include "twill/support/diagnostic.h"

/// Internal to the driver: what the program ids of a kernel decide.
namespace twill::driver {

/// The program ids that a value depends on, as bits: 1 x, 2 y, 4 z.
using Axes = unsigned;

/// Cost: linear in the ops that the value comes from.
Axes axes_of(const ir::Program& program, ir::ValueId value);

/// Why CTAs may not walk the grid on their own, at the op that keeps them from it: the program has
/// a loop over tiles, or does not learn where it is by its program ids alone. Nothing: they may.
std::optional<Diagnostic> objection_to_walking(const Kernel& kernel);

/// Whether the loop runs as often for every tile as for any other.
bool same_trips(const Kernel& kernel);

/// Sets the order of the tiles of a persistent kernel. Where some loads of the loop move with x and
/// others with y, as in a matrix product, the CTAs that run together should share most of both:
/// groups of 8 or 16 of x, whichever makes c * X + ceil(SMs / c) * Y least, X and Y being the bytes
/// that such loads bring. Otherwise row by row.
void choose_order(plan::Kernel& what, const Kernel& kernel);

}  // namespace twill::driver
