#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "twill/execute/interpreter.h"

namespace twill::concurrent {

/// True if some warps of the function have roles of their own.
bool has_roles(const ir::Program& program, ir::OpId function);

/// Slots of the deepest ring: the largest number of mbarriers behind one value. 0 without any ring.
std::int64_t deepest_ring(const ir::Program& program, ir::OpId function);

/// Most steps of a trial run in the search for arguments; the arguments found take no more.
inline constexpr std::int64_t kMostStepsOfTrial = 200'000;

/// Launches by trip count: the largest of any innermost loop in which roles wait for each other.
/// Where a loop goes over the iterations of all tiles, a number may have two launches: for one
/// tile, and for several.
using Launches = std::multimap<std::int64_t, execute::Launch>;

/// Finds arguments for as many of the trip counts from 0 to `most` as possible, by trial runs.
/// These compute no tiles, or the tiles that decide, or all. All integers that drive inner loops
/// are equal; integers that drive only outer loops give each CTA some tiles. Arguments in `given`
/// are kept. Fails, at the op's line, if no arguments can be run, or if the search ends without
/// arguments that make an iteration. With `to_broken`, the search ends with the first
/// run that breaks a rule, or after half of these steps. Cost: some hundred runs, and some millions
/// of steps at most.
Result<Launches> launches_up_to(const ir::Program& program, ir::OpId function,
                                const execute::Launch& given, std::int64_t most,
                                bool to_broken = false);

}  // namespace twill::concurrent
