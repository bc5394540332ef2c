#pragma once

#include <optional>
#include <string>
#include <vector>

#include "twill/driver/driver.h"
#include "twill/plan/proof.h"

namespace twill::driver {

/// A plan that was read back: proven again, or with findings.
struct CheckedPlan {
  std::optional<plan::ProvenPlan> plan;
  std::vector<plan::Finding> findings;  ///< findings, if there is no plan
};

/// Reads the JSON of a plan and checks all of it. The schedule in it is verified (findings of rule
/// "schedule"). Its limits are compared with the machine that the plan names, or with `machine` if
/// that is not empty (rule "machine"). The plan is proven, and derived members are derived again.
/// Fails for other JSON, and for an unknown machine.
Result<CheckedPlan> check_plan(const Input& input, const std::string& machine);

}  // namespace twill::driver
