#pragma once

#include <functional>
#include <string>

#include "twill/cli/command.h"
#include "twill/machine/machine.h"

namespace twill::cli {

/// --rate fastest|slowest, handed to `set`. `help` says what the costs are for, and the default.
void add_rate_option(Command command, std::function<void(machine::Rate)> set,
                     const std::string& help);

}  // namespace twill::cli
