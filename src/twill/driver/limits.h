#pragma once

#include <optional>

#include "twill/driver/driver.h"
#include "twill/driver/launch_time.h"
#include "twill/report/limits.h"

namespace twill::driver {

/// The lower bounds of the input's loop that need no search, and the answer for it (`answer_loop`).
/// For TTGIR, the least bound over the pools at both rates. A schedule or order in the loop's text
/// is checked and compared. A timed launch is compared, too (launch_time.h).
Result<report::Limits> bound_loop(const Request& request,
                                  const std::optional<TimedLaunch>& timed = {});

}  // namespace twill::driver
