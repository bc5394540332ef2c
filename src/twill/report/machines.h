#pragma once

#include <span>
#include <string>

#include "twill/machine/machine.h"

namespace twill::report {

/// Lists machines, one line each: name, target, whether it was measured, and its description.
std::string machine_list(std::span<const machine::Machine> machines);

}  // namespace twill::report
