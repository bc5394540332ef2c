#pragma once

#include <filesystem>
#include <string_view>

#include "twill/support/diagnostic.h"

namespace twill::support {

/// The file or folder that Twill ships under `name`, such as "machines/h200.json" or "machines".
/// `name` is relative and uses forward slashes.
///
/// Looks in `../share/twill` beside the running executable (an installed `twill`), then in the
/// source tree this library was built from, then in the folder it was configured to be installed
/// into (a program that links the installed library); the first that has the file wins. Reads no
/// environment variable. The diagnostic of a missing file names the places that were searched.
Result<std::filesystem::path> data_path(std::string_view name);

}  // namespace twill::support
