#pragma once

#include <optional>

#include "twill/driver/plan_loop.h"
#include "twill/execute/interpreter.h"
#include "twill/report/launch.h"

namespace twill::driver {

/// A launch of the kernel as the user ran and timed it.
struct TimedLaunch {
  double microseconds = 0;
  execute::Launch launch;             ///< `programs` is the grid; `arguments` by name
  std::optional<std::int64_t> trips;  ///< trips of the loop in each CTA; replaces the trips that
                                      ///< follow from the arguments
  std::optional<double> clock_mhz;    ///< nullopt: the machine's clock
};

/// Compares the launch with the proven bound and the plan of the answer, which must have a plan.
/// CTAs go to SMs in the order of the grid, one at a time to each SM, as soon as it is free. Fails
/// for a `.loop` text, which has no machine, and where trips are unknown (trip_counts.h).
Result<report::LaunchTime> launch_time(const Request& request, const PlannedLoop& answer,
                                       const TimedLaunch& timed);

}  // namespace twill::driver
