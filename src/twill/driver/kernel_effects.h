#pragma once

#include "twill/driver/kernel.h"
#include "twill/plan/make.h"
#include "twill/report/outcome.h"

/// Internal to the driver: effects and branches that the plan of a kernel has to place beside its
/// ops.
namespace twill::driver {

/// Fills in branches and effects of the loop, and effects around it. Preconditions: `outcome` is of
/// that kernel's loop, and the setting has its prologue and epilogue ops.
void add_effects(plan::Setting& setting, const Kernel& kernel, const report::Outcome& outcome);

}  // namespace twill::driver
