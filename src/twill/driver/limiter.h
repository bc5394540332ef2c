#pragma once

#include "twill/driver/kernel.h"

/// Internal to the driver: the fact that limits a loop, in the words that every command uses.
namespace twill::driver {

/// The largest bound that needs no search, and whether a search has proven more. The Problem is
/// that of the outcome's pool with every op at its fastest; for a loop without rates, the loop's
/// own. Empty if that Problem is not posed.
std::optional<report::Limiter> limiter_of(const Request& request, const Reading& reading,
                                          const report::Outcome& outcome);

}  // namespace twill::driver
