#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "twill/support/diagnostic.h"

namespace twill::cli {

/// Writes all of `text` to standard output and flushes it. Fails if that cannot be done (closed
/// pipe, full disk).
Result<void> print(std::string_view text);

/// Writes `text` to the file, whole or not at all: to a temporary file beside it that then takes
/// its name. "-" is standard output; devices and pipes are written directly.
Result<void> write_file(const std::string& path, std::string_view text);

/// Writes a folder of files (names may have a folder of their own in front), whole or not at all:
/// to a temporary folder beside it that then takes its name. What was at `path` must be an empty
/// folder or one with a file named like `marks`, which is then replaced; else it fails. Of the
/// current folder only what lies in it is replaced.
Result<void> write_folder(const std::string& path, const std::map<std::string, std::string>& files,
                          const std::vector<std::string>& marks);

}  // namespace twill::cli
