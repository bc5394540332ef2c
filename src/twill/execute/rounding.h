#pragma once

#include <optional>
#include <span>

#include "twill/ir/type.h"

namespace twill::execute {

/// The numbers of a floating type: 1 + `mantissa` significant bits down to exponent `least`, with
/// zeros of both signs and subnormals.
struct Format {
  int mantissa = 23;
  int least = -126;      ///< exponent of the smallest normal number
  double largest = 0;    ///< largest finite number
  bool infinite = true;  ///< true: larger numbers become an infinity; false: NaN
};

/// Format of f32, f16, bf16, f8E4M3FN, f8E5M2; nullopt for other types (f64 among them).
std::optional<Format> format_of(ir::Type scalar);

/// Rounds `number` to the nearest number of the format, ties to even. Hardware and MLIR's truncf
/// round a single operation in this way.
float round_to(const Format& format, double number);
/// Rounds many numbers.
void round_all(const Format& format, std::span<float> numbers);

}  // namespace twill::execute
