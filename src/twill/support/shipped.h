#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "twill/support/diagnostic.h"

/// Files that Twill ships: the machines, and the headers that printed kernels include. They are
/// part of the library, so that no file has to lie anywhere. If the environment variable
/// TWILL_DATA_DIR names a folder, a file in it takes the place of the shipped one of the same name,
/// or is shipped as well. All functions fail if it names something else.
namespace twill::support {

/// The names of all that is shipped below a folder, sorted: of "machines" "machines/b200.json" and
/// so on. `folder` is relative and uses forward slashes. Empty if nothing is.
Result<std::vector<std::string>> shipped_names(std::string_view folder);

/// The text of the file that is shipped under this name. Fails if there is none.
Result<std::string> shipped_text(std::string_view name);

}  // namespace twill::support
