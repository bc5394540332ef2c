#pragma once

#include <string>
#include <vector>

#include "twill/gate/code.h"

/// Matches loops of the machine code with the planned loops.
namespace twill::gate {

/// Shortfalls of the loops of a function's roles against planned loops, by planned loop. A loop of
/// the code stands for one planned loop only. The best matching leaves the fewest planned loops
/// without a partner, then the fewest shortfalls in all. Cost: exponential in the number of planned
/// loops, which equals the number of roles with products.
std::vector<std::vector<std::string>> shortfalls(const std::vector<LoopCode>& planned,
                                                 const FunctionCode& code);

}  // namespace twill::gate
