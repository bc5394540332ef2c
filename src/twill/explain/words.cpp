#include "twill/explain/words.h"

#include <cstddef>

#include <fmt/format.h>

namespace twill::explain {

std::string cycles(Cycles count) { return fmt::format("{} cycle{}", count, count == 1 ? "" : "s"); }

std::string listed(std::span<const std::string> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

std::vector<std::string> names_of(const problem::Problem& problem,
                                  std::span<const problem::GroupId> groups) {
  std::vector<std::string> names;
  for (const problem::GroupId group : groups) names.push_back(problem[group].name);
  return names;
}

}  // namespace twill::explain
