#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "twill/certify/certificate.h"

/// Reasons that need no proof: sums and paths, to be added up.
namespace twill::certify {

/// Least value of the level by this reason, for all alternatives; an objection if the reason does
/// not bound the level. `interval` is the claimed one. Not for `proof`.
tl::expected<std::int64_t, std::string> weight_of(const problem::Problem& problem,
                                                  const std::string& level, const Reason& reason,
                                                  Cycles interval);

/// Whether the reason shows that there is no schedule at any interval: empty, or the objection. Not
/// for `proof`.
std::string objection_to_never(const problem::Problem& problem, const Reason& reason);

}  // namespace twill::certify
