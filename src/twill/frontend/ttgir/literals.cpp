#include "twill/frontend/ttgir/literals.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace twill::frontend::ttgir {
namespace {

/// Value of an IEEE number with `exponent` and `mantissa` bits.
double small_float(std::uint64_t bits, int exponent, int mantissa) {
  const int bias = (1 << (exponent - 1)) - 1;
  const auto fraction = static_cast<double>(bits & ((std::uint64_t{1} << mantissa) - 1));
  const int power = static_cast<int>((bits >> mantissa) & ((std::uint64_t{1} << exponent) - 1));
  const double sign = ((bits >> (exponent + mantissa)) & 1U) != 0 ? -1.0 : 1.0;
  if (power == (1 << exponent) - 1) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  const double scaled = fraction * std::ldexp(1.0, -mantissa);
  return power == 0 ? sign * std::ldexp(scaled, 1 - bias)
                    : sign * std::ldexp(1.0 + scaled, power - bias);
}

double bits_value(std::uint64_t bits, ir::Type type) {
  const std::string_view name = type != nullptr ? std::string_view(type->name) : "f64";
  if (name == "f64") return std::bit_cast<double>(bits);
  if (name == "f32") return small_float(bits, 8, 23);
  if (name == "f16") return small_float(bits, 5, 10);
  if (name == "bf16") return small_float(bits, 8, 7);
  if (name == "f8E5M2") return small_float(bits, 5, 2);
  return std::numeric_limits<double>::quiet_NaN();
}

std::optional<std::uint64_t> hexadecimal(std::string_view spelling) {
  if (spelling.substr(0, 2) != "0x") return std::nullopt;
  spelling.remove_prefix(2);
  std::uint64_t bits = 0;
  const auto [end, error] =
      std::from_chars(spelling.data(), spelling.data() + spelling.size(), bits, 16);
  const bool whole = error == std::errc() && end == spelling.data() + spelling.size();
  return whole ? std::optional(bits) : std::nullopt;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace

std::optional<std::int64_t> integer_value(std::string_view spelling, ir::Type type) {
  if (const auto bits = hexadecimal(spelling)) {
    if (*bits <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return static_cast<std::int64_t>(*bits);
    }
    const bool is_64_bits = type == nullptr || type->bits == 64;
    return is_64_bits ? std::optional(static_cast<std::int64_t>(*bits)) : std::nullopt;
  }
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(spelling.data(), spelling.data() + spelling.size(), value);
  const bool whole = error == std::errc() && end == spelling.data() + spelling.size();
  return whole ? std::optional(value) : std::nullopt;
}

double float_value(std::string_view spelling, ir::Type type) {
  if (const auto bits = hexadecimal(spelling)) return bits_value(*bits, type);
  double value = 0;
  const auto [end, error] =
      std::from_chars(spelling.data(), spelling.data() + spelling.size(), value);
  const bool whole = error == std::errc() && end == spelling.data() + spelling.size();
  return whole ? value : std::numeric_limits<double>::quiet_NaN();
}

std::string unescaped(std::string_view quoted) {
  if (quoted.size() < 2 || quoted.front() != '"') return std::string(quoted);
  quoted = quoted.substr(1, quoted.size() - 2);
  std::string value;
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    if (quoted[i] != '\\' || i + 1 == quoted.size()) {
      value += quoted[i];
      continue;
    }
    const char escape = quoted[++i];
    const int high = hex_digit(escape);
    const int low = i + 1 < quoted.size() ? hex_digit(quoted[i + 1]) : -1;
    if (escape == 'n' || escape == 't') {
      value += escape == 'n' ? '\n' : '\t';
    } else if (high >= 0 && low >= 0) {
      value += static_cast<char>(high * 16 + low);
      ++i;
    } else {
      value += escape;
    }
  }
  return value;
}

}  // namespace twill::frontend::ttgir
