#pragma once

#include <optional>
#include <string>

#include "twill/driver/kernel.h"
#include "twill/plan/make.h"
#include "twill/report/outcome.h"

/// Internal to the driver: pairs of CTAs that share loads.
namespace twill::driver {

/// Makes clusters of two CTAs in `setting`, and makes the loads that both CTAs share
/// `tma_multicast`. Does so only if it is right for every problem, by the dependences of
/// coordinates, loop bounds and stores on program ids (docs/decisions/0007-clusters.md). CTAs of a
/// pair differ in the program id that shares most bytes. Otherwise returns the reason, without a
/// change. Preconditions: `setting.kernel` and `setting.mechanisms` are set.
std::optional<std::string> choose_cluster(plan::Setting& setting, const Kernel& kernel,
                                          const report::Outcome& outcome);

}  // namespace twill::driver
