#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace twill {

/// "did you mean 'latency'?" if one candidate is close enough to be a slip of the keyboard, else
/// "". Ties go to the first. Cost: |word| * sum of |candidate|; words over 64 characters are
/// skipped.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

/// `did_you_mean`; where no name is close, and there are at most eight: "there is 'M', 'N'".
std::string names_like(std::string_view word, std::span<const std::string_view> names);

/// The member `name` of each value, in order. Views: valid as long as the values.
std::vector<std::string_view> names_of(const auto& values) {
  std::vector<std::string_view> names;
  for (const auto& value : values) names.push_back(value.name);
  return names;
}

/// A user's word as messages show it: in single quotes, cut after 60 characters. (Not `quoted`:
/// std::quoted would win for std::string.)
std::string in_quotes(std::string_view word);

}  // namespace twill
