#include "twill/cli/kernel_options.h"

#include <map>
#include <string>

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

void add_strategy_options(CLI::App& command, driver::Request& request) {
  std::map<std::string, strategy::Strategy> names;
  for (const strategy::Strategy it : strategy::all_strategies()) {
    names.emplace(strategy::name_of(it), it);
  }
  command
      .add_option_function<std::string>(
          "--strategy",
          [&request, names](const std::string& name) {
            request.strategy.strategy = names.at(name);
          },
          "How to arrange the loop [twill: as fast as can be]")
      ->check(CLI::IsMember(names));
  command
      .add_option("--depth", request.strategy.depth,
                  "Copies of each load's buffer, for the strategies triton and cypress")
      ->check(CLI::Range(1, 256));
}

}  // namespace twill::cli
