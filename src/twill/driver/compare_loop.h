#pragma once

#include <optional>
#include <span>

#include "twill/driver/driver.h"
#include "twill/driver/plan_loop.h"
#include "twill/report/comparison.h"

namespace twill::driver {

struct ComparedLoop {
  report::Comparison comparison;
  std::optional<PlannedLoop> answer;  ///< that of strategy twill, if it is among them and has one
  std::vector<Diagnostic> warnings;   ///< of the first strategy that has an answer
  std::vector<std::string> bugs;      ///< of ours: rules that a schedule or a plan of ours breaks
};

/// Schedules, plans and simulates the input's loop by each strategy as the commands of these names
/// do; `request.strategy.depth` and `ping_pong` are for those that have them. Fails for an input
/// that cannot be posed; that a strategy cannot be had, or its schedule not be carried out, stands
/// in its row.
Result<ComparedLoop> compare_loop(const Request& request,
                                  std::span<const strategy::Strategy> strategies);

}  // namespace twill::driver
