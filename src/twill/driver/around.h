#pragma once

#include "twill/driver/kernel.h"
#include "twill/plan/make.h"
#include "twill/report/outcome.h"

/// Internal to the driver: what the plan of a kernel has to know of the text around the loop.
namespace twill::driver {

/// Fills in residents, what memory is reserved, the kernel and what is done around the loop.
/// Fails if something has to be done once for all tiles of a loop over tiles: plans do what stands
/// around the loop once per tile; and if CTAs cannot come by their tiles as `tiles` demands.
/// Precondition: `outcome` is of that kernel's loop.
Result<void> add_surroundings(plan::Setting& setting, const Kernel& kernel,
                              const report::Outcome& outcome, TileWalk tiles);

}  // namespace twill::driver
