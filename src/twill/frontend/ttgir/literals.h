#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "twill/ir/type.h"

/// Meaning of a number's or a string's spelling.
namespace twill::frontend::ttgir {

/// "12", "-3", "0xFF". Unsigned 64-bit values that do not fit, and anything wider: nullopt.
/// `type` may be null.
std::optional<std::int64_t> integer_value(std::string_view spelling, ir::Type type);

/// "1.5e+00", "3", or the bits in hexadecimal of a value of `type` (f16, bf16, f32, f64), which may
/// be null. Not a number where we cannot tell.
double float_value(std::string_view spelling, ir::Type type);

/// The value of a quoted token, escapes resolved; of any other, itself.
std::string unescaped(std::string_view quoted);

}  // namespace twill::frontend::ttgir
