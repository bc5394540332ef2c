#pragma once

#include <optional>
#include <vector>

#include "twill/driver/plan_loop.h"
#include "twill/numerics/numerics.h"

namespace twill::driver {

/// Arguments and CTAs with which a kernel is run.
struct NumbersRequest {
  execute::Launch launch;
  /// Program ids of the CTAs to run. Default: the first CTA of the grid, and a CTA whose place
  /// affects its results.
  std::vector<std::array<std::int64_t, 3>> programs = {{0, 0, 0}, {3, 1, 0}};
  /// Seed: every asynchronous op takes 1 to kLargestDelay times its latency, evenly spread.
  std::optional<std::uint64_t> jitter;
};

inline constexpr double kLargestDelay = 32;

struct NumberedLoop {
  PlannedLoop planned;
  std::optional<numerics::Comparison> comparison;  ///< nullopt without a plan
};

/// Plans the kernel as `plan_loop` does, runs its text and its plan with numbers, and compares the
/// results. Fails for a `.loop` text or a plan's JSON, which have no computation, and as
/// `numerics::compare` does. Fails where the loop makes no trip: then nothing is compared.
Result<NumberedLoop> compare_numbers(const Request& request, const NumbersRequest& wanted);

/// Runs any plan of a planned loop with numbers, and compares. Preconditions: `plan` has the
/// Problem of `planned`, and meets the preconditions of `simulate::simulate`.
Result<numerics::Comparison> compare_numbers(const Request& request, const PlannedLoop& planned,
                                             const plan::Plan& plan, const NumbersRequest& wanted);

}  // namespace twill::driver
