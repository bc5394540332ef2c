#pragma once

#include <optional>
#include <string>
#include <vector>

#include "twill/driver/driver.h"
#include "twill/plan/proof.h"

namespace twill::driver {

/// A plan that was read back: proven again, or what it breaks.
struct CheckedPlan {
  std::optional<plan::ProvenPlan> plan;
  std::vector<plan::Finding> findings;  ///< without a plan
};

/// Reads the JSON of a plan and believes nothing in it that can be known otherwise. The schedule in
/// it is verified (findings of rule "schedule"), its limits are compared with the machine it
/// names, or with `machine` if that is not empty (rule "machine"), the plan is proven, and what it
/// derives from the rest of it is derived again. Fails for what is no plan, and for a machine that
/// is not known.
Result<CheckedPlan> check_plan(const Input& input, const std::string& machine);

}  // namespace twill::driver
