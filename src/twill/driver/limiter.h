#pragma once

#include "twill/driver/kernel.h"

/// Internal to the driver: what limits a loop, in the words that every command uses.
namespace twill::driver {

/// The largest bound that needs no search, and whether it is all that is proven: for the outcome's
/// pool with every op at its fastest, or for a loop without rates the Problem itself. Nothing if
/// that is not posed.
std::optional<report::Limiter> limiter_of(const Request& request, const Reading& reading,
                                          const report::Outcome& outcome);

}  // namespace twill::driver
