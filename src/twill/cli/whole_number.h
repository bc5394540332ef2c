#pragma once

#include <cstdint>

#include <CLI/CLI.hpp>

namespace twill::cli {

/// For `transform` of an option that takes a whole number from `least` to `most`. Also takes 1e9
/// for 1000000000.
CLI::Validator whole_number(std::int64_t least, std::int64_t most);

}  // namespace twill::cli
