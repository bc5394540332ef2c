#pragma once

#include <optional>
#include <string>

#include "twill/driver/kernel.h"
#include "twill/plan/plan.h"
#include "twill/simulate/simulate.h"

/// Internal to the driver: costs, signals and latencies for the simulation of plans.
namespace twill::driver {

/// The signals of the machine and the latencies of loads. Without a machine there are no signals.
Result<simulate::Timing> timing_on(const std::string& machine);

/// Costs and timing of plan runs. A kernel has every op at its full rate, on shared pipes; a
/// `.loop` text has its own costs.
struct FullRate {
  std::optional<problem::Problem> costs;  ///< nullopt: the plan's own
  simulate::Timing timing;
};
/// Costs and timing for `plan` and other plans of the outcome's schedule.
Result<FullRate> full_rate_of(const Request& request, const Reading& reading,
                              const report::Outcome& outcome, const plan::Plan& plan);

/// Cycles of an iteration in the steady state. Empty if the run has no steady state, or stops,
/// since the plan need not be proven. Cost: a run of some hundred iterations, a few milliseconds.
std::optional<double> interval_of(const plan::Plan& plan, const FullRate& full);

/// Estimated cycles of an SM for an iteration of one of its `ctas` CTAs. At least the proven bound,
/// and at least the share of a CTA that runs alone. Loads arrive after their latency under traffic,
/// so that rings with too few copies show. Empty without a steady state.
std::optional<double> sm_interval_of(const plan::Plan& plan, FullRate full, double load_latency,
                                     double bound, int ctas);

/// Cycles of this many iterations, from the first to the end of the last. Beyond 10,000, the rest
/// is computed from the steady state. Empty if the run stops.
std::optional<double> total_of(const plan::Plan& plan, const FullRate& full, std::int64_t trips);

/// Cycles of an iteration with every op at its slowest co-run rate, in which pipes are shared.
/// Empty for a `.loop` text, which has a single set of costs.
Result<std::optional<double>> at_slowest(const Request& request, const Reading& reading,
                                         const report::Outcome& outcome, const plan::Plan& plan);

/// Account of the gap between a plan's steady state and its proven bound: each element adds one
/// cause of delay to the run. Empty where a run has no interval.
struct Steady {
  std::optional<double> order;  ///< order and costs of the plan, with shared pipes if the loop has
                                ///< them
  std::optional<double> signals;  ///< signals of barriers added
  std::optional<double> loads;    ///< latency of loads added: all causes
};
Steady steady_of(const plan::Plan& plan, const FullRate& full);

/// `interval_of` without the latency of loads, as in `Steady::signals`.
std::optional<double> signals_of(const plan::Plan& plan, FullRate full);

/// Cycles of an iteration that late loads add to the run without their latency, rounded; 0 if a run
/// has no interval.
Cycles late_loads(std::optional<double> loads, std::optional<double> signals);

}  // namespace twill::driver
