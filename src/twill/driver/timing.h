#pragma once

#include <optional>
#include <string>

#include "twill/driver/driver.h"
#include "twill/plan/plan.h"
#include "twill/simulate/simulate.h"

/// Internal to the driver: what plans are simulated with.
namespace twill::driver {

/// The signals of the machine and the latencies of loads; no signals without a machine.
Result<simulate::Timing> timing_on(const std::string& machine);

/// Cycles of an iteration in the steady state of a plan for the request's kernel with that pool, as
/// `twill simulate` has them. Nothing if the run comes to none.
Result<std::optional<double>> simulated_interval(const Request& request, const std::string& pool,
                                                 const plan::Plan& plan);

}  // namespace twill::driver
