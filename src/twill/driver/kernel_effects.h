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

/// Refusal of a draft in which an array is written by different roles in the loop and around it.
/// Roles begin and end the loop independently, so these writes have no order. Preconditions as
/// above; cost: quadratic in the accesses.
std::optional<Diagnostic> order_refusal(const Kernel& kernel, const report::Outcome& outcome,
                                        const plan::Plan& draft);

/// Refusal of a draft in which an effect or a branch cannot be done as the text has it. Effects that
/// only people see may be left out. Copies and waits of a pipelined text may be, too.
std::optional<Diagnostic> objection_to_effects(const Kernel& kernel, const plan::Plan& draft,
                                               bool is_pipelined);

}  // namespace twill::driver
