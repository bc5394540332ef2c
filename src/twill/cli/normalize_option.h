#pragma once

#include "twill/driver/driver.h"

namespace CLI {
class App;
}

namespace twill::cli {

/// --normalize U or U:paper. `request` must live as long as the option.
void add_normalize_option(CLI::App& command, driver::Request& request);

}  // namespace twill::cli
