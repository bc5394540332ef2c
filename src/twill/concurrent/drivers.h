#pragma once

#include <set>
#include <string>
#include <vector>

#include "twill/ir/loop.h"
#include "twill/ir/program.h"

/// Arguments that drive the loops of a function.
namespace twill::concurrent {

/// Arrays of integers that atomic operations increase, such as counters of tiles. These arrays
/// begin at 0.
std::set<std::string> counters_of(const ir::Program& program, ir::OpId function);

/// The integer arguments of the function on which the values depend.
std::set<std::string> drivers_of(const ir::Program& program, ir::OpId function,
                                 std::vector<ir::ValueId> values);

/// Whether roles wait for each other in the loop.
bool waits_inside(const ir::Program& program, ir::OpId loop);

}  // namespace twill::concurrent
