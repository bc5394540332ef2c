#pragma once

#include <optional>

#include "twill/driver/kernel.h"
#include "twill/plan/plan.h"

/// Internal to the driver: statements of a mapping are kept, or refused with the mapping's line.
namespace twill::driver {

/// Fails (M15) if the mapping is for another machine than the requested one.
Result<void> check_machine(const Request& request, const machine::Machine& machine,
                           const frontend::Stated& stated);

/// The machine with at most the shared memory that the mapping allows. Fails (M07) if the machine
/// has less.
Result<machine::Machine> within_limit(machine::Machine machine,
                                      const frontend::StatedNumber& shared);

/// Least limit under which a loop without a schedule has one, with the largest users of the memory
/// (M07). Only if the mapping's limit is the reason; nullopt if another limit would not help.
std::optional<Diagnostic> limit_too_small(const Request& request, const Reading& reading,
                                          const report::Outcome& outcome);

/// Fails if the request's strategy has roles of warps where the mapping forbids them, or the
/// reverse (M11). Fails if both state a depth and the depths differ (M12).
Result<void> check_strategy_stated(const Request& request, const Kernel& kernel);

/// Copies of the loads that run ahead, if the mapping states them.
std::optional<int> stated_depth(const Kernel& kernel);

/// Reason (M12) why the plan does not have the number of copies that the mapping states; nullopt if
/// it has.
std::optional<Diagnostic> other_depth(const Kernel& kernel, const plan::Plan& plan);

}  // namespace twill::driver
