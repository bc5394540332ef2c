#pragma once

#include <string>
#include <vector>

#include "twill/driver/driver.h"

/// Internal to the driver: the final checks of every outcome.
namespace twill::driver {

/// Every broken rule, one line each, by the independent checker. Empty if the schedule obeys all
/// rules.
std::vector<std::string> violations_of(const problem::Problem& problem,
                                       const schedule::Schedule& schedule);

/// Every broken rule of a schedule that Twill found. Fails if it exceeds the checker's size limit:
/// an unchecked schedule is never reported.
Result<std::vector<std::string>> violations_of_found(const Input& input,
                                                     const problem::Problem& problem,
                                                     const schedule::Schedule& schedule);

/// Reduces an outcome with transfer ops, once its schedule was checked, to the residual problem of
/// its groups. Problem, schedule, origins and differences then have only ops that exist. Each
/// alternative is reduced to the ops that exist in it.
void leave_what_exists(report::Outcome& outcome);

/// An outcome with the problem's hash and text filled in, without a machine.
report::Outcome described(const Input& input, problem::Problem problem, schedule::Answer answer);

}  // namespace twill::driver
