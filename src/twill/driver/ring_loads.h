#pragma once

#include <vector>

#include "twill/driver/kernel.h"
#include "twill/plan/make.h"

/// Internal to the driver: loads of loops after the planned loop that could use its rings.
namespace twill::driver {

/// Loads of tiles in a loop after the planned loop, each with the planned loads that are alike. Two
/// loads are alike if their tiles have one shape, element and layout, and both use descriptors of
/// one type, or both pointers. A load runs ahead only if no earlier effect must come before it.
/// Cost: about the size of the loop for each of its loads.
std::vector<plan::LoadRequest> loads_beside(const Kernel& kernel, const report::Outcome& outcome,
                                            ir::OpId loop);

}  // namespace twill::driver
