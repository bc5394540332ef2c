#include "twill/execute/rounding.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace twill::execute {
namespace {

struct Named {
  std::string_view name;
  Format format;
};

constexpr Named kFormats[] = {
    {"f32", {23, -126, 0x1.fffffep127, true}}, {"f16", {10, -14, 65504, true}},
    {"bf16", {7, -126, 0x1.fep127, true}},     {"f8E4M3FN", {3, -6, 448, false}},
    {"f8E5M2", {2, -14, 57344, true}},
};

constexpr int kBits = 52;  ///< of a double's mantissa
constexpr int kBias = 1023;

/// Exponent of a normal number; for a subnormal number, a value below all exponents.
int exponent_of(double number) {
  constexpr unsigned kMask = 0x7ff;
  return static_cast<int>(std::bit_cast<std::uint64_t>(number) >> kBits & kMask) - kBias;
}

/// Computes 2^exponent. Precondition: the power is a normal number.
double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + kBias) << kBits);
}

}  // namespace

std::optional<Format> format_of(ir::Type scalar) {
  for (const Named& named : kFormats) {
    if (named.name == scalar->name) return named.format;
  }
  return std::nullopt;
}

float round_to(const Format& format, double number) {
  constexpr int kSingle = 23;
  if (format.mantissa == kSingle) return static_cast<float>(number);
  if (number == 0 || !std::isfinite(number)) {
    const bool lost = std::isinf(number) && !format.infinite;
    return lost ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(number);
  }
  const float beyond = format.infinite ? std::numeric_limits<float>::infinity()
                                       : std::numeric_limits<float>::quiet_NaN();
  const auto sign = static_cast<float>(number);
  if (std::abs(number) >= 2 * format.largest) return std::copysign(beyond, sign);
  const int last = std::max(exponent_of(number), format.least) - format.mantissa;
  // Adding so large a number rounds: the last bit of the sum is worth 2^last.
  const double large = 1.5 * power_of_two(last + kBits);
  const double rounded = (number + large) - large;
  return std::copysign(std::abs(rounded) <= format.largest ? static_cast<float>(rounded) : beyond,
                       sign);
}

void round_all(const Format& format, std::span<float> numbers) {
  constexpr int kSingle = 23;
  constexpr std::uint32_t kMagnitude = 0x7fffffff;
  if (format.mantissa >= kSingle) return;
  const int dropped = kSingle - format.mantissa;
  const auto least = std::bit_cast<std::uint32_t>(static_cast<float>(power_of_two(format.least)));
  const auto most = std::bit_cast<std::uint32_t>(static_cast<float>(format.largest));
  for (float& number : numbers) {
    const auto bits = std::bit_cast<std::uint32_t>(number);
    const std::uint32_t magnitude = bits & kMagnitude;
    if (magnitude == 0) continue;
    // Rounds to nearest, ties to even. A carry goes to the exponent.
    const std::uint32_t half = (1U << (dropped - 1)) - 1 + (magnitude >> dropped & 1U);
    const std::uint32_t rounded = (magnitude + half) >> dropped << dropped;
    const bool is_normal = magnitude >= least && rounded <= most;
    number = is_normal ? std::bit_cast<float>((bits & ~kMagnitude) | rounded)
                       : round_to(format, static_cast<double>(number));
  }
}

}  // namespace twill::execute
