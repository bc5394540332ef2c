#pragma once

#include <functional>
#include <string>

#include "twill/machine/machine.h"

namespace CLI {
class App;
}

namespace twill::cli {

/// --rate fastest|slowest, handed to `set`. `help` says what the costs are for, and the default.
void add_rate_option(CLI::App& command, std::function<void(machine::Rate)> set,
                     const std::string& help);

}  // namespace twill::cli
