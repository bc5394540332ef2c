#pragma once

#include <string>

#include "twill/report/outcome.h"

namespace twill::report {

/// Describes a difference: "mma0A before mma1A instead of after it", "exp2B in WG0 instead of WG1".
std::string in_words(const problem::Problem& problem, const schedule::Difference& difference);

/// Describes the first few differences in one line: "...; ...; and 4 more".
std::string in_words(const problem::Problem& problem,
                     const std::vector<schedule::Difference>& differences);

/// Makes a table of the alternatives beside the answer itself, each with its differences below.
/// Precondition: the outcome has a schedule and alternatives.
std::string alternatives_text(const Outcome& outcome);

}  // namespace twill::report
