#pragma once

#include <string>
#include <vector>

#include "twill/gate/code.h"

/// Which loop of the machine code is which planned one.
namespace twill::gate {

/// How the loops of a function's roles fall short of planned ones, by planned loop. A loop of the
/// code stands for one planned loop only: of all ways to match them, the one with the fewest
/// planned loops left without any, then with the fewest shortfalls in all. Cost: exponential in the
/// planned loops, of which there are as many as roles with products.
std::vector<std::vector<std::string>> shortfalls(const std::vector<LoopCode>& planned,
                                                 const FunctionCode& code);

}  // namespace twill::gate
