#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "twill/driver/kernel.h"
#include "twill/execute/interpreter.h"

/// Internal to the driver: iterations of the main loop in each CTA of a launch.
namespace twill::driver {

/// Largest grid whose CTAs are counted one by one.
inline constexpr std::int64_t kMostCtas = 1 << 20;
/// Most iterations of a loop that are counted.
inline constexpr std::int64_t kMostTrips = 1'000'000'000;

/// Trips of the CTAs of a grid of at most kMostCtas, x fastest, then y. `launch.programs` is the
/// grid. A CTA that returns early, or whose branch leads past the loop, has none; trips of loops
/// around it multiply. Fails if the trips depend on more than arguments and program ids, or on an
/// argument missing in `launch`, with its name. Fails for more than kMostTrips. Cost: the sources
/// of the bounds, once for each program id on which they depend.
Result<std::vector<std::int64_t>> trip_counts(const Kernel& kernel, const execute::Launch& launch);

}  // namespace twill::driver
