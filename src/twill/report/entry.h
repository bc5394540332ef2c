#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "twill/support/text_table.h"

/// Internal to the room: lines of summaries.
namespace twill::report {

inline constexpr std::size_t kWidth = 100;  ///< characters of a line

/// Makes an entry, "  KEY          TEXT", wrapped under the text.
inline std::string entry(std::string_view key, std::string_view text) {
  constexpr std::size_t kColumn = 14;
  std::string start = "  ";
  start += key;
  start.resize(std::max(start.size(), kColumn), ' ');
  return wrap(text, kWidth, start, std::string(kColumn, ' '));
}

}  // namespace twill::report
