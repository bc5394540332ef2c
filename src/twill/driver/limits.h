#pragma once

#include <optional>

#include "twill/driver/driver.h"
#include "twill/driver/launch_time.h"
#include "twill/report/limits.h"

namespace twill::driver {

/// The lower bounds of the input's loop that need no search, and the answer for it (`answer_loop`).
/// For TTGIR both rates, each the least over the pools; a schedule or order that comes with the
/// loop is checked and compared. With a timed launch, that is compared too (launch_time.h).
Result<report::Limits> bound_loop(const Request& request,
                                  const std::optional<TimedLaunch>& timed = {});

}  // namespace twill::driver
