#pragma once

#include "twill/driver/kernel.h"

/// Internal to the driver: schedules that the user brings.
namespace twill::driver {

/// Reads and checks the schedule or order of a `.loop` file or a schedule JSON; broken rules become
/// violations. For an order, takes the earliest schedule at its least II. The outcome's Problem is
/// the whole Problem, including transfer ops that the schedule does not need.
Result<report::Outcome> read_imported(const Input& input);

/// Outcome for an imported schedule or order of this input's loop, `request.imported`, without a
/// search. Rate and pool are those for which the loop poses the imported Problem. Broken rules are
/// the outcome's violations. Fails if no pool poses it. Precondition: `request.imported` is set.
Result<report::Outcome> imported_schedule(const Request& request, const Reading& reading);

}  // namespace twill::driver
