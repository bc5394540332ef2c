#pragma once

#include <string>
#include <string_view>

#include "twill/support/diagnostic.h"

/// Texts with several modules: from MLIR_ENABLE_DUMP, one before each pass and for each compiled
/// kernel, or from files put together.
namespace twill::frontend::ttgir {

/// Reduces a text to the module to be scheduled: the module of the named kernel, from before Triton
/// assigns latencies. Lines keep their numbers; lines of other modules become blank. A text with a
/// single module is unchanged. `kernel`: "NAME", or "NAME:LINE", where LINE is the begin of the
/// dump, for a kernel compiled several times. Empty: the only kernel. `file` is for messages.
///
/// Fails, with a list of the modules, if no module or several modules match. Cost: linear.
Result<std::string> module_of_dump(std::string text, const std::string& file,
                                   std::string_view kernel);

}  // namespace twill::frontend::ttgir
