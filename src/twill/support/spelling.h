#pragma once

#include <span>
#include <string>
#include <string_view>

namespace twill {

/// "did you mean 'latency'?" if one candidate is close enough to be a slip of the keyboard, else
/// "". Ties go to the first. Cost: |word| * sum of |candidate|; words over 64 characters are
/// skipped.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

/// A user's word as messages show it: in single quotes, cut after 60 characters. (Not `quoted`:
/// std::quoted would win for std::string.)
std::string in_quotes(std::string_view word);

}  // namespace twill
