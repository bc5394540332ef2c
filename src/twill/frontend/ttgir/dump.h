#pragma once

#include <string>
#include <string_view>

#include "twill/support/diagnostic.h"

/// Texts with several modules, as MLIR_ENABLE_DUMP prints them: one before each pass, and for each
/// kernel that was compiled.
namespace twill::frontend::ttgir {

/// The same text with the module in it that is to be scheduled: the one from before Triton assigns
/// latencies, of the kernel of that name. Lines keep their numbers; those of others are blank. A
/// text with at most one dump stays as it is. `kernel`: "NAME", or "NAME:LINE", where its dump
/// begins, if a kernel was compiled several times; empty: the only one. `file` is for messages.
///
/// Fails, with a list of what there is, if there is no such module, or several. Cost: linear.
Result<std::string> module_of_dump(std::string text, const std::string& file,
                                   std::string_view kernel);

}  // namespace twill::frontend::ttgir
