#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "twill/cli/command.h"
#include "twill/driver/numbers_loop.h"

namespace twill::cli {

/// Largest extent of a kernel that is run on the CPU; a larger kernel takes too long.
inline constexpr std::int64_t kLargestSize = 8192;

/// Options with which `twill simulate --numbers` runs the kernel.
struct NumberOptions {
  driver::NumbersRequest wanted;
  std::vector<std::string> arguments;  ///< "NAME=VALUE"
};

/// Adds --size and --arg. `options` must live as long as the command.
void add_number_options(Command command, NumberOptions& options);

/// Adds each "NAME=VALUE" to the kernel's arguments. Prints the first error, and returns its exit
/// code.
int take_arguments(const std::vector<std::string>& arguments, execute::Launch& launch);

/// Plans the loop, runs it with numbers, prints the comparison, and returns the exit code: 6 if the
/// numbers differ.
int run_numbers(const driver::Request& request, NumberOptions options,
                std::optional<std::uint64_t> jitter, bool json);

}  // namespace twill::cli
