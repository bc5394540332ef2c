#pragma once

#include <optional>

#include "twill/certify/certificate.h"
#include "twill/schedule/schedule.h"

/// Reasons that need no search, in the form of a certificate.
namespace twill::prove {

/// Claim that "interval" is at least MinII.
certify::AtLeast interval_bound(const problem::Problem& problem);

/// Bound on an objective at an interval that has a schedule. Precondition: one alternative per op.
certify::AtLeast objective_bound(const problem::Problem& problem, problem::Objective objective,
                                 Cycles interval);

/// Reason why there is no schedule at any interval, where no search is needed to see it.
std::optional<certify::Reason> never(const problem::Problem& problem);

}  // namespace twill::prove
