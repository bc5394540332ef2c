#pragma once

#include "twill/driver/kernel.h"
#include "twill/plan/make.h"
#include "twill/report/outcome.h"

/// Internal to the driver: facts about the text before and after the loop, for the plan of a
/// kernel.
namespace twill::driver {

/// Fills in loop-invariant buffers, reserved memory, the kernel, and its prologue and epilogue ops.
/// Fails if an op must be done once for all tiles of a loop over tiles: plans do prologue and
/// epilogue ops once per tile. Fails if CTAs cannot get their tiles as `tiles` demands.
/// Precondition: `outcome` is of that kernel's loop.
Result<void> add_per_tile_ops(plan::Setting& setting, const Kernel& kernel,
                              const report::Outcome& outcome, TileWalk tiles);

}  // namespace twill::driver
