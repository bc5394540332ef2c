#pragma once

#include <span>
#include <string>
#include <string_view>

#include "twill/support/diagnostic.h"

namespace twill::machine {

/// Line and column of a byte of `text`, both from 1.
Location location_at(std::string_view text, std::size_t offset, std::string file);

/// Location of the value to which the member names and element numbers in `path` lead. If that is
/// missing, the location of the innermost value on the way. Precondition: `text` is valid JSON.
/// Cost: one pass over what precedes the value.
Location locate(std::string_view text, std::span<const std::string> path, std::string file);

}  // namespace twill::machine
