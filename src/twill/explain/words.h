#pragma once

#include <span>
#include <string>
#include <vector>

namespace twill::explain {

/// "a", "a and b", "a, b and c".
std::string listed(std::span<const std::string> words);

}  // namespace twill::explain
