#pragma once

#include <optional>

#include "twill/driver/kernel.h"
#include "twill/plan/plan.h"
#include "twill/support/diagnostic.h"

/// Internal to the driver: effects of program ids on addresses, bounds and the order of tiles.
namespace twill::driver {

/// The program ids on which a value depends, as bits: 1 x, 2 y, 4 z.
using Axes = unsigned;

/// The program ids on which the value depends. Cost: linear in the ops that compute the value.
Axes axes_of(const ir::Program& program, ir::ValueId value);

/// Objection to CTAs that walk the grid, at the op that forbids it. The program has a loop over
/// tiles, or its place depends on more than program ids. Empty if CTAs may walk the grid.
std::optional<Diagnostic> objection_to_walking(const Kernel& kernel);

/// Whether the loop has the same trip count for every tile.
bool same_trips(const Kernel& kernel);

/// Sets the order of the tiles of a persistent kernel. Some loads of the loop may move with x and
/// others with y, as in a matrix product. Then CTAs that run together should share most of both:
/// groups of 8 or 16 of x. The choice minimizes c * X + ceil(SMs / c) * Y, where X and Y are the
/// bytes of such loads. Otherwise row by row.
void choose_order(plan::Kernel& what, const Kernel& kernel);

}  // namespace twill::driver
