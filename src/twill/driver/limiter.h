#pragma once

#include "twill/driver/kernel.h"

/// Internal to the driver: what limits a loop, in the words that every command uses.
namespace twill::driver {

/// The largest bound that needs no search, and whether a search has proven more. For the outcome's
/// pool with every op at its fastest; for a loop without rates, the Problem itself. Empty if that
/// is not posed.
std::optional<report::Limiter> limiter_of(const Request& request, const Reading& reading,
                                          const report::Outcome& outcome);

}  // namespace twill::driver
