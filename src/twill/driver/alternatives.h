#pragma once

#include <optional>
#include <vector>

#include "twill/driver/kernel.h"

/// Internal to the driver: schedules next to the optimum.
namespace twill::driver {

/// Lists the alternatives that the request names, or replaces the outcome's schedule by the chosen
/// one. Each alternative is checked: broken rules are added to `violations`. No effect without such
/// a request, or without a schedule. Fails for strategies other than `twill`, and for an
/// alternative that does not exist.
Result<void> add_alternatives(const Request& request, const Reading& reading,
                              report::Outcome& outcome);

/// Outcomes with schedules of other structures: the next best, at most `count`, of no larger II.
/// Empty for a strategy without alternatives, and for a residual problem, which fits its own groups
/// only.
Result<std::vector<report::Outcome>> equally_fast(const Request& request, const Reading& reading,
                                                  const report::Outcome& outcome, int count);

/// The outcome with the best schedule of a narrower Problem (less memory, more rules, the same
/// ops). Of its claims only the lower bound stays. If only schedules with room for transfers were
/// searched, `claim` says what is proven of them; a note of the outcome repeats it.
struct BestOfNarrower {
  std::optional<report::Outcome> outcome;  ///< empty if no schedule was found
  std::string claim;  ///< empty: the search proves no more than is known about all schedules
};
Result<BestOfNarrower> best_of_narrower(const Request& request, const Reading& reading,
                                        const report::Outcome& outcome,
                                        const problem::Problem& narrower);

}  // namespace twill::driver
