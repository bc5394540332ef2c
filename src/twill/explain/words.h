#pragma once

#include <span>
#include <string>
#include <vector>

#include "twill/problem/ops.h"

namespace twill::explain {

/// Joins words: "a", "a and b", "a, b and c".
std::string listed(std::span<const std::string> words);

/// Counts cycles in words: "1 cycle", "2 cycles".
std::string cycles(Cycles count);

std::vector<std::string> names_of(const problem::Problem& problem,
                                  std::span<const problem::GroupId> groups);

}  // namespace twill::explain
