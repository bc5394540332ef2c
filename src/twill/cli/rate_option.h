#pragma once

#include <functional>
#include <string>

#include "twill/cli/command.h"
#include "twill/machine/machine.h"

namespace twill::cli {

/// Adds --rate fastest|slowest; the value is passed to `set`. `help` describes the costs and the
/// default.
void add_rate_option(Command command, std::function<void(machine::Rate)> set,
                     const std::string& help);

}  // namespace twill::cli
