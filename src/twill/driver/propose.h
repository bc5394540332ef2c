#pragma once

#include <optional>
#include <vector>

#include "twill/driver/kernel.h"
#include "twill/driver/trial.h"

/// Internal to the driver: the schedules of an input, from which simulated plans select.
namespace twill::driver {

/// A schedule that might be built. The outcome's Problem is the whole Problem, including transfer
/// ops that the schedule does not need (`leave_what_exists`).
struct Proposal {
  report::Outcome outcome;     ///< checked: look at `violations`
  std::optional<Trial> trial;  ///< empty without a schedule, or if not requested
};

/// Whether there is a usable schedule.
bool usable(const report::Outcome& outcome);

/// Schedules of the input by the request's strategy, at each rate and for each pool, best first. An
/// imported schedule, a `.loop` text and normalized costs give a single proposal. At least one,
/// perhaps without a schedule. `tries`: plans are drafted and simulated, and decide the order.
/// Fails for bad input, and with the strategy's reason if the strategy applies to no pool.
Result<std::vector<Proposal>> propose(const Request& request, const Reading& reading, bool tries);

/// Drafts and simulates the plan of the outcome's schedule, with the transfer ops that exist in it.
Result<std::optional<Trial>> try_outcome(const Request& request, const Reading& reading,
                                         report::Outcome outcome, bool shrink);

}  // namespace twill::driver
