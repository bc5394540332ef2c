#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "twill/execute/interpreter.h"

namespace twill::concurrent {

/// True if some warps of the function have roles of their own.
bool has_roles(const ir::Program& program, ir::OpId function);

/// Slots of the deepest ring: the most mbarriers that one value stands for. 0 without any.
std::int64_t deepest_ring(const ir::Program& program, ir::OpId function);

/// Steps of a run that is tried out for arguments: those found take no more.
inline constexpr std::int64_t kMostStepsOfTrial = 200'000;

/// Arguments by the iterations that they make: the most of any loop that holds no other loop and in
/// which roles wait for each other. Where a loop goes over the iterations of all tiles, a number
/// may have two launches: for one tile, and for several.
using Launches = std::multimap<std::int64_t, execute::Launch>;

/// Arguments for as many as possible of the numbers of iterations from 0 to `most`, tried out
/// without tiles. All integers on which bounds of inner loops depend are alike; those on which
/// only outer loops depend make some tiles for each CTA. What `given` has is kept.
/// Fails, at the op's line, if no arguments can be run, and if none was found that makes an
/// iteration before the search ends. Cost: some hundred runs, and some millions of steps at most.
Result<Launches> launches_up_to(const ir::Program& program, ir::OpId function,
                                const execute::Launch& given, std::int64_t most);

}  // namespace twill::concurrent
