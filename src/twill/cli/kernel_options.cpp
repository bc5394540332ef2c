#include "twill/cli/kernel_options.h"

#include <CLI/CLI.hpp>

namespace twill::cli {

void add_kernel_options(CLI::App& command, driver::Request& request, const std::string& pool_help) {
  command.add_option("--machine", request.machine,
                     "Name (see `twill machines`) or JSON file [by the TTGIR's target]");
  command.add_option(
      "--loop", request.loop,
      "Which loop: its number in source order from 0, :LINE, or FILE:LINE of the kernel's source "
      "[innermost with the most tensor-core work]");
  command
      .add_option("--subtile", request.subtile, "Rows of a sub-tile, 0 for none [the machine's]")
      ->check(CLI::Range(0, 65536));
  command.add_option("--pool", request.pool, pool_help);
  command.add_flag("--strict", request.strict,
                   "Refuse operations that the machine has no price for, instead of warning");
}

}  // namespace twill::cli
