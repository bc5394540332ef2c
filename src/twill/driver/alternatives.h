#pragma once

#include <optional>
#include <vector>

#include "twill/driver/kernel.h"

/// Internal to the driver: schedules next to the optimum.
namespace twill::driver {

/// Lists the alternatives that the request asks for, or replaces the outcome's schedule by the
/// chosen one. Every alternative is checked: broken rules are added to `violations`. No effect if
/// none is asked for, or the outcome has no schedule to use. Fails for another strategy than
/// `twill`, and for an alternative that does not exist.
Result<void> add_alternatives(const Request& request, const Reading& reading,
                              report::Outcome& outcome);

/// Outcomes with schedules of other structures: the next best ones, at most `count`, of no larger
/// II. None for a strategy without alternatives, and for the residual loop of a loop with transfer
/// ops, which is for its own groups only.
Result<std::vector<report::Outcome>> equally_fast(const Request& request, const Reading& reading,
                                                  const report::Outcome& outcome, int count);

/// The outcome with the best schedule of a narrower Problem (less memory, more rules, the same ops)
/// in place of its own. Of its claims, the lower bound stays. Where only schedules with room for
/// transfers were searched, `claim` is what is proven of them, and a note of the outcome.
struct BestOfNarrower {
  std::optional<report::Outcome> outcome;  ///< empty if none is found
  std::string claim;                       ///< empty: no more than of all schedules
};
Result<BestOfNarrower> best_of_narrower(const Request& request, const Reading& reading,
                                        const report::Outcome& outcome,
                                        const problem::Problem& narrower);

}  // namespace twill::driver
