#pragma once

#include <string>

#include "twill/problem/problem.h"

namespace twill::schedule {

/// The Problem as JSON for other tools, format "twill-problem" version 1, which
/// docs/reference/problem-json.md describes: everything a `.loop` text says, defaults of ops
/// written out, keys in a fixed order, with the problem_hash. Ends in a newline.
std::string problem_json(const problem::Problem& problem);

}  // namespace twill::schedule
