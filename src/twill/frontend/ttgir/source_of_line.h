#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace twill::frontend::ttgir {

/// Place in the user's source, "silu.py:17", of a line of TTGIR. Read off the line's last
/// `loc(...)` and the aliases it names: the outermost caller of a call, the first of fused
/// locations. For texts that cannot be read. `line` counts from 1. nullopt if the line names none.
/// Cost: linear in the text for each alias.
std::optional<std::string> source_of_line(std::string_view text, int line);

/// The message with " (silu.py:17)" behind it, unless it names such a place already, or none is
/// known.
std::string with_source(std::string message, std::string_view text, int line);

}  // namespace twill::frontend::ttgir
