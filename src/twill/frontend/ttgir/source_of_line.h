#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace twill::frontend::ttgir {

/// Where the user's source has what stands in a line of TTGIR, "silu.py:17", by the text of the
/// line's last `loc(...)` and of the aliases it names: of a call the outermost caller, of fused
/// locations the first. For texts that cannot be read. `line` counts from 1. nullopt if the line
/// names none. Cost: linear in the text for each alias.
std::optional<std::string> source_of_line(std::string_view text, int line);

/// The message with " (silu.py:17)" behind it, unless it names such a place already, or none is
/// known.
std::string with_source(std::string message, std::string_view text, int line);

}  // namespace twill::frontend::ttgir
