#pragma once

#include <string>

#include "twill/problem/ops.h"

namespace twill::schedule {

/// Prints the Problem as JSON for other tools, format "twill-problem" version 2
/// (docs/reference/problem-json.md). The JSON has everything that a `.loop` text says, with
/// defaults of ops written out, keys in a fixed order, and the problem_hash. Ends in a newline.
std::string problem_json(const problem::Problem& problem);

}  // namespace twill::schedule
