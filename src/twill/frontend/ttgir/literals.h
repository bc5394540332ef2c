#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "twill/ir/type.h"

/// Values of spelled numbers and strings.
namespace twill::frontend::ttgir {

/// Value of "12", "-3" or "0xFF". nullopt for unsigned 64-bit values that do not fit, and for wider
/// values. `type` may be null.
std::optional<std::int64_t> integer_value(std::string_view spelling, ir::Type type);

/// Value of "1.5e+00" or "3", or of the hexadecimal bits of a number of `type` (f16, bf16, f32,
/// f64), which may be null. NaN if the value is unknown.
double float_value(std::string_view spelling, ir::Type type);

/// Value of a quoted token, with escapes resolved; other tokens are returned unchanged.
std::string unescaped(std::string_view quoted);

}  // namespace twill::frontend::ttgir
