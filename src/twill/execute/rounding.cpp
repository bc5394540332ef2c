#include "twill/execute/rounding.h"

#include <algorithm>
#include <cmath>
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
  // Scaled so that the last bit that is kept is worth 1; both steps are exact.
  const int last = std::max(std::ilogb(number), format.least) - format.mantissa;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(number, -last)), last);
  if (std::abs(rounded) <= format.largest) return static_cast<float>(rounded);
  const float beyond = format.infinite ? std::numeric_limits<float>::infinity()
                                       : std::numeric_limits<float>::quiet_NaN();
  return std::copysign(beyond, static_cast<float>(number));
}

}  // namespace twill::execute
