#pragma once

#include <string>

#include "twill/report/outcome.h"

namespace twill::report {

/// Findings of the checker: the rules the schedule obeys, or every rule it breaks.
std::string verification(const Outcome& outcome);

}  // namespace twill::report
