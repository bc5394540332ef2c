#pragma once

#include <optional>

#include "twill/certify/certificate.h"
#include "twill/schedule/schedule.h"

/// Reasons that need no search, in the form that a certificate has them.
namespace twill::prove {

/// "interval" is at least MinII.
certify::AtLeast interval_bound(const problem::Problem& problem);

/// A bound on an objective, given the interval, which has a schedule. Precondition: one alternative
/// per op.
certify::AtLeast objective_bound(const problem::Problem& problem, problem::Objective objective,
                                 Cycles interval);

/// Reason why there is no schedule at any interval, if it can be seen without search.
std::optional<certify::Reason> never(const problem::Problem& problem);

}  // namespace twill::prove
