#include "twill/support/spelling.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <vector>

namespace twill {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

/// Letters to insert, drop, replace or swap with their neighbour, without regard to case
/// (Levenshtein with transpositions), three rows at a time.
std::size_t distance(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) { return lower(x) == lower(y); };
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
      row[j] = std::min({replaced, row[j - 1] + 1, last[j] + 1});
      const bool swapped = i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last.back();
}

}  // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
  constexpr std::size_t kLongest = 64;
  if (word.empty() || word.size() > kLongest) return {};
  // A third of the letters may be wrong, so that short names do not match everything.
  std::size_t best = std::max<std::size_t>(word.size() / 3, 1) + 1;
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
  return found.empty() ? std::string() : "did you mean " + in_quotes(found) + "?";
}

std::string names_like(std::string_view word, std::span<const std::string_view> names) {
  constexpr std::size_t kMost = 8;
  std::string hint = did_you_mean(word, names);
  if (!hint.empty() || names.empty() || names.size() > kMost) return hint;
  for (const std::string_view name : names)
    hint += (hint.empty() ? "there is " : ", ") + in_quotes(name);
  return hint;
}

std::string in_quotes(std::string_view word) {
  constexpr std::size_t kShown = 60;
  std::string shown(word.substr(0, kShown));
  std::replace_if(
      shown.begin(), shown.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  if (word.size() > kShown) shown += "...";
  return "'" + shown + "'";
}

}  // namespace twill
