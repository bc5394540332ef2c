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

/// Like print(), and then ends standard output, so that the reader of a pipe has the whole text
/// before the program ends. Later prints are lost.
Result<void> print_last(std::string_view text);

/// Writes `text` to the file, whole or not at all: to a temporary file beside it that is then
/// renamed. The new file takes the mode of an existing file. "-" is standard output; devices and
/// pipes are written directly.
Result<void> write_file(const std::string& path, std::string_view text);

/// Writes a folder of files, whole or not at all: to a temporary folder beside it that is then
/// renamed. Names of files may begin with a folder. An existing folder at `path` is replaced if it
/// is empty or has a file named as one of `marks`; else the call fails. If `path` is the current
/// folder, only its entries are replaced.
Result<void> write_folder(const std::string& path, const std::map<std::string, std::string>& files,
                          const std::vector<std::string>& marks);

}  // namespace twill::cli
