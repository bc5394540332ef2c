#pragma once

#include <optional>
#include <string>

#include "twill/driver/kernel.h"
#include "twill/plan/make.h"
#include "twill/report/outcome.h"

/// Internal to the driver: whether the CTAs of a kernel come in pairs that share loads.
namespace twill::driver {

/// Makes the kernel of `setting` one of clusters of two, and the loads that both CTAs of a pair make
/// alike `tma_multicast`, if that is right for every problem: decided by what the coordinates, the
/// loop's bounds and the stores depend on (docs/decisions/0007-clusters.md). Of the program ids in
/// which the CTAs of a pair may differ, the one that shares most bytes. Otherwise changes nothing
/// and returns why. Preconditions: `setting.kernel` and `setting.mechanisms` are set.
std::optional<std::string> choose_cluster(plan::Setting& setting, const Kernel& kernel,
                                          const report::Outcome& outcome);

}  // namespace twill::driver
