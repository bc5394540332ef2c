#include "twill/cli/rate_option.h"

#include <utility>

#include <CLI/CLI.hpp>

namespace twill::cli {

void add_rate_option(CLI::App& command, std::function<void(machine::Rate)> set,
                     const std::string& help) {
  command
      .add_option_function<std::string>(
          "--rate",
          [set = std::move(set)](const std::string& name) {
            set(name == "fastest" ? machine::Rate::fastest : machine::Rate::slowest);
          },
          help)
      ->check(CLI::IsMember({"fastest", "slowest"}));
}

}  // namespace twill::cli
