#pragma once

#include <string>

#include "twill/execute/interpreter.h"

namespace twill::driver {

/// Adds "NAME=VALUE" to what a kernel is started with. VALUE is a number, a range of them
/// (`execute::read_values`), or a file: an .npy array, or else nothing but the elements as they lie
/// in memory. Whether the kernel has such an argument shows when it is started. Fails if the text
/// is not of that form, and if there is no such range or file.
Result<void> add_argument(const std::string& text, execute::Launch& launch);

}  // namespace twill::driver
