#pragma once

#include <string>

#include "twill/report/outcome.h"

namespace twill::report {

/// Findings of the checker: the rules that the schedule obeys, or every rule that it breaks.
std::string verification(const Outcome& outcome);

}  // namespace twill::report
