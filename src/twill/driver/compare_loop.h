#pragma once

#include <optional>
#include <span>

#include "twill/driver/driver.h"
#include "twill/driver/plan_loop.h"
#include "twill/report/comparison.h"

namespace twill::driver {

struct ComparedLoop {
  report::Comparison comparison;
  std::optional<PlannedLoop> answer;  ///< answer of strategy twill; empty if twill is not among the
                                      ///< strategies or has no answer
  std::vector<Diagnostic> warnings;   ///< of the first strategy that has an answer
  std::vector<std::string> bugs;      ///< rules that a schedule or plan breaks: bugs of Twill
};

/// Schedules, plans and simulates the input's loop by each strategy. `request.strategy.depth` and
/// `ping_pong` go to the strategies that have these options. Fails for an input that cannot be
/// posed. A strategy that does not apply, or whose schedule has no plan, is reported in its row.
Result<ComparedLoop> compare_loop(const Request& request,
                                  std::span<const strategy::Strategy> strategies);

}  // namespace twill::driver
