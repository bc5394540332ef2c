#include "twill/support/spelling.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <vector>

namespace twill {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

/// Levenshtein distance without regard to case, one row at a time.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replace = diagonal + (lower(a[i]) == lower(b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replace, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
  constexpr std::size_t kLongest = 64;
  if (word.empty() || word.size() > kLongest) return {};
  // A third of the letters may be wrong, so that short names do not match everything.
  std::size_t best = word.size() / 3 + 1;
  std::string_view found;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > kLongest) continue;
    const std::size_t longer = std::max(word.size(), candidate.size());
    if (longer - std::min(word.size(), candidate.size()) >= best) continue;
    const std::size_t d = distance(word, candidate);
    if (d < best && d < longer) {
      best = d;
      found = candidate;
    }
  }
  return found.empty() ? std::string() : "did you mean " + quoted(found) + "?";
}

std::string quoted(std::string_view word) {
  constexpr std::size_t kShown = 60;
  std::string shown(word.substr(0, kShown));
  std::replace_if(
      shown.begin(), shown.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  if (word.size() > kShown) shown += "...";
  return "'" + shown + "'";
}

}  // namespace twill
