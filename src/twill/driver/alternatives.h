#pragma once

#include <optional>
#include <vector>

#include "twill/driver/kernel.h"

/// Internal to the driver: schedules next to the optimum.
namespace twill::driver {

/// Lists the alternatives that the request asks for, or puts the one to take in the place of the
/// outcome's schedule. Every one of them is checked: what breaks a rule is added to `violations`.
/// Does nothing if none is asked for, or the outcome has no schedule to use. Fails for another
/// strategy than `twill`, and if there is no such alternative.
Result<void> add_alternatives(const Request& request, const Reading& reading,
                              report::Outcome& outcome);

/// The outcome with other structures in the place of its schedule's: the next best ones, at most
/// `count`, of no larger II. None of a strategy that has no alternatives, nor of what groups left
/// of a loop with hand-offs: that is for no other groups.
Result<std::vector<report::Outcome>> equally_fast(const Request& request, const Reading& reading,
                                                  const report::Outcome& outcome, int count);

/// The outcome with the best schedule of a narrower Problem (less room, more rules, the same ops)
/// in the place of its own; of what it says is proven the lower bound stays. Nothing if none is
/// found.
Result<std::optional<report::Outcome>> best_of_narrower(const Request& request,
                                                        const Reading& reading,
                                                        const report::Outcome& outcome,
                                                        const problem::Problem& narrower);

}  // namespace twill::driver
