#pragma once

#include "twill/cli/command.h"
#include "twill/driver/driver.h"

namespace twill::cli {

/// Adds --normalize U or U:paper. `request` must live as long as the option.
void add_normalize_option(Command command, driver::Request& request);

}  // namespace twill::cli
