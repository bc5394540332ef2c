#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "twill/certify/certificate.h"

/// Witnesses: reasons that need no proof, but sums and paths that the checker adds up.
namespace twill::certify {

/// Bound on the level that this reason gives, for all alternatives; an objection if the reason
/// gives none. `interval` is the claimed interval. Precondition: the reason is no `proof`.
tl::expected<std::int64_t, std::string> weight_of(const problem::Problem& problem,
                                                  const std::string& level, const Reason& reason,
                                                  Cycles interval);

/// Objection if the reason does not show that there is no schedule at any interval; empty if it
/// does. Precondition: the reason is no `proof`.
std::string objection_to_never(const problem::Problem& problem, const Reason& reason);

}  // namespace twill::certify
