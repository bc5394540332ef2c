#pragma once

#include "twill/driver/kernel.h"

/// Internal to the driver: schedules that the user brings.
namespace twill::driver {

/// The schedule or the order of a `.loop` file or a schedule JSON, checked: broken rules are
/// violations. For an order, the earliest schedule at its least II. The Problem is the whole, with
/// transfer ops that do not exist.
Result<report::Outcome> read_imported(const Input& input);

/// Outcome for an imported schedule or order of this input's loop, `request.imported`, without a
/// search. Rate and pool are those for which the loop poses the imported Problem. Broken rules are
/// the outcome's violations. Fails if no pool poses it. Precondition: `request.imported` is set.
Result<report::Outcome> imported_schedule(const Request& request, const Reading& reading);

}  // namespace twill::driver
