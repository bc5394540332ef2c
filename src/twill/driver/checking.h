#pragma once

#include <string>
#include <vector>

#include "twill/driver/driver.h"

/// Internal to the driver: the last step of everything.
namespace twill::driver {

/// Every broken rule, one line each, by the independent checker; empty if the schedule is right.
std::vector<std::string> violations_of(const problem::Problem& problem,
                                       const schedule::Schedule& schedule);

/// The same for a schedule that we found. Fails if it exceeds the checker's size limit: an
/// unchecked schedule is never reported.
Result<std::vector<std::string>> violations_of_found(const Input& input,
                                                     const problem::Problem& problem,
                                                     const schedule::Schedule& schedule);

/// Reduces an outcome with transfer ops, once its schedule was checked, to the ops that its groups
/// need: Problem, schedule, origins and differences speak of ops that exist, and those of each
/// alternative of ops that exist in it.
void leave_what_exists(report::Outcome& outcome);

/// An outcome with the problem's hash and text filled in, and nothing said about a machine.
report::Outcome described(const Input& input, problem::Problem problem, schedule::Answer answer);

}  // namespace twill::driver
