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

/// What the plans of a kernel run with: every op at its full rate, on shared pipes.
struct FullRate {
  problem::Problem costs;
  simulate::Timing timing;
};
/// For the plans of one schedule of the request's kernel, of which `plan` is one, with that pool.
Result<FullRate> at_full_rate(const Request& request, const std::string& pool,
                              const plan::Plan& plan);

/// Cycles of an iteration in the steady state. Nothing if the run comes to none, or cannot go on:
/// the plan need not be proven. Cost: a run of some hundred iterations, about 10 ms.
std::optional<double> interval_of(const plan::Plan& plan, const FullRate& full);

}  // namespace twill::driver
