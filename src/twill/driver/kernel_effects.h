#pragma once

#include <optional>

#include "twill/driver/kernel.h"
#include "twill/plan/make.h"
#include "twill/plan/plan.h"
#include "twill/report/outcome.h"

/// Internal to the driver: effects and branches that the plan of a kernel has to place beside its
/// ops.
namespace twill::driver {

/// Fills in branches and effects of the loop, and effects outside the loop. Preconditions:
/// `outcome` belongs to that kernel's loop, and the setting has its prologue and epilogue ops.
void add_effects(plan::Setting& setting, const Kernel& kernel, const report::Outcome& outcome);

/// Refusal of a draft in which different roles write an array in the loop and outside of it. Roles
/// begin and end the loop independently, so these writes have no order. Preconditions as above;
/// cost: quadratic in the accesses.
std::optional<Diagnostic> order_refusal(const Kernel& kernel, const report::Outcome& outcome,
                                        const plan::Plan& draft);

/// Refusal of a draft in which an effect or a branch cannot be done as in the text. Effects that
/// only people see may be left out. So may copies and waits of a pipelined text.
std::optional<Diagnostic> objection_to_effects(const Kernel& kernel, const plan::Plan& draft,
                                               bool is_pipelined);

}  // namespace twill::driver
