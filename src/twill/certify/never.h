#pragma once

#include <string>

#include "twill/certify/certificate.h"

namespace twill::certify {

/// Does the work of `objection_to_never` for a Problem without transfer ops.
std::string objection_to_reason(const problem::Problem& problem, const Reason& reason);

}  // namespace twill::certify
