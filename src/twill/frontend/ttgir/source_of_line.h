#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace twill::frontend::ttgir {

/// Place in the user's source, such as "silu.py:17", of a line of TTGIR. Read from the line's last
/// `loc(...)` and the aliases that it names: the outermost caller of a call, the first of fused
/// locations. For texts that cannot be read. `line` counts from 1. nullopt if the line names no
/// place. Cost: linear in the text for each alias.
std::optional<std::string> source_of_line(std::string_view text, int line);

/// The message followed by " (silu.py:17)", unless the place is unknown or the message names a
/// place already.
std::string with_source(std::string message, std::string_view text, int line);

}  // namespace twill::frontend::ttgir
