#pragma once

#include <string>

#include "twill/execute/interpreter.h"

namespace twill::driver {

/// Adds "NAME=VALUE" to a kernel's arguments. VALUE is a number, a range (`execute::read_values`),
/// or a file: an .npy array, or the raw elements as in memory. The launch checks that the kernel
/// has such an argument. Fails if the text has another form, and if there is no such range or file.
Result<void> add_argument(const std::string& text, execute::Launch& launch);

}  // namespace twill::driver
