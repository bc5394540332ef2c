#pragma once

#include <vector>

#include "twill/driver/kernel.h"
#include "twill/plan/make.h"

/// Internal to the driver: loads of loops behind the planned one that could come through its rings.
namespace twill::driver {

/// The loads of tiles in a loop behind the planned one, with the planned loads that each is like.
/// Alike are loads of a tile of one shape, element and layout, by one descriptor or both by
/// pointers. A load runs ahead only where no effect in front of it is one that it must see. Cost:
/// about the size of the loop for each of its loads.
std::vector<plan::LoadRequest> loads_beside(const Kernel& kernel, const report::Outcome& outcome,
                                            ir::OpId loop);

}  // namespace twill::driver
