#pragma once

#include <string>
#include <string_view>

#include "twill/support/diagnostic.h"

/// Texts with several modules, as MLIR_ENABLE_DUMP prints them: one before each pass, and for each
/// kernel that was compiled. Or modules that follow each other, as files put together.
namespace twill::frontend::ttgir {

/// The text reduced to the module to be scheduled: of the kernel of that name, from before Triton
/// assigns latencies. Lines keep their numbers; lines of other modules are blank. A text with one
/// module is unchanged. `kernel`: "NAME", or "NAME:LINE", the begin of its dump, if a kernel
/// was compiled several times. Empty: the only kernel. `file` is for messages.
///
/// Fails, with a list of the modules, if there is no such module, or several. Cost: linear.
Result<std::string> module_of_dump(std::string text, const std::string& file,
                                   std::string_view kernel);

}  // namespace twill::frontend::ttgir
