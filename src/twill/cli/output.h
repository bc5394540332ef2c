#pragma once

#include <string>
#include <string_view>

#include "twill/support/diagnostic.h"

namespace twill::cli {

/// Writes all of `text` to standard output and flushes it. Fails if that cannot be done (closed
/// pipe, full disk).
Result<void> print(std::string_view text);

/// Writes `text` to the file, whole or not at all: to a temporary file beside it that then takes
/// its name. "-" is standard output; devices and pipes are written directly.
Result<void> write_file(const std::string& path, std::string_view text);

}  // namespace twill::cli
