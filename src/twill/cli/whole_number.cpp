#include "twill/cli/whole_number.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "twill/support/spelling.h"

namespace twill::cli {
namespace {

template <class Number>
std::optional<Number> number_of(const std::string& text) {
  Number value = 0;
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || last != end) return std::nullopt;
  return value;
}

std::optional<std::int64_t> whole(const std::string& text) {
  if (const auto number = number_of<std::int64_t>(text)) return number;
  const auto number = number_of<double>(text);
  constexpr double kExact = 9007199254740992;  // 2^53: further on, doubles leave out numbers
  if (!number || std::trunc(*number) != *number) return std::nullopt;
  if (std::fabs(*number) > kExact && std::fabs(*number) > 1e18) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

}  // namespace

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  const bool is_bounded = most < std::numeric_limits<std::int64_t>::max();
  const std::string range =
      is_bounded ? fmt::format("{} to {}", least, most) : fmt::format("{} or more", least);
  const auto check = [least, most, range](std::string& text) -> std::string {
    const auto number = whole(text);
    if (!number) return in_quotes(text) + " is not a whole number";
    if (*number < least || *number > most) return in_quotes(text) + " is not " + range;
    text = std::to_string(*number);
    return {};
  };
  return {check, range};
}

}  // namespace twill::cli
