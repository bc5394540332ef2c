#pragma once

#include <optional>

#include "twill/driver/kernel.h"
#include "twill/plan/make.h"
#include "twill/plan/plan.h"
#include "twill/report/outcome.h"

/// Internal to the driver: effects and branches that the plan of a kernel has to place beside its
/// ops.
namespace twill::driver {

/// Fills in branches and effects of the loop, and effects around it. Preconditions: `outcome` is of
/// that kernel's loop, and the setting has its prologue and epilogue ops.
void add_effects(plan::Setting& setting, const Kernel& kernel, const report::Outcome& outcome);

/// Refusal of a draft in which other roles write an array in the loop than around it. Roles begin
/// and end the loop each on their own, so that nothing orders these writes. Preconditions as above;
/// cost: quadratic in the accesses.
std::optional<Diagnostic> order_refusal(const Kernel& kernel, const report::Outcome& outcome,
                                        const plan::Plan& draft);

/// Refusal of a draft in which an effect or a branch cannot be done as the text has it. What only
/// people see may be left out.
std::optional<Diagnostic> objection_to_effects(const Kernel& kernel, const plan::Plan& draft);

}  // namespace twill::driver
