#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "twill/support/diagnostic.h"

/// Files that Twill ships: the machines, and the headers that printed kernels include. They are
/// part of the library, so that no file has to lie anywhere. If the environment variable
/// TWILL_DATA_DIR names a folder, its files replace shipped files of the same name, and count as
/// shipped, too. All functions fail if it names something else.
namespace twill::support {

/// The names of all that is shipped below a folder, sorted: of "machines" "machines/b200.json" and
/// so on. `folder` is relative and uses forward slashes. Empty if there are none.
Result<std::vector<std::string>> shipped_names(std::string_view folder);

/// The text of the file that is shipped under this name. Fails if there is none.
Result<std::string> shipped_text(std::string_view name);

}  // namespace twill::support
