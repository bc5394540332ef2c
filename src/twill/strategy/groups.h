#pragma once

#include <vector>

#include "twill/problem/ops.h"
#include "twill/strategy/sub_tiles.h"
#include "twill/support/diagnostic.h"

/// Internal to the room: assigns ops to the groups of the pool.
namespace twill::strategy {

using problem::GroupId;

/// Groups that compute: the widest of those that do not load.
std::vector<GroupId> compute_groups(const problem::Problem& problem);

/// Group of each op, by OpId. Loads go to a load group; ops for narrower groups to one of their
/// width, those on one unit together; other ops by sub-tiles to the compute groups, shared ones to
/// the first. Fails if there is no group for an op, or nothing to load.
Result<std::vector<GroupId>> specialized(const problem::Problem& problem, const SubTiles& tiles);

/// Group of each op with compute groups alone: each runs all ops of its sub-tiles, loads too.
std::vector<GroupId> unspecialized(const problem::Problem& problem, const SubTiles& tiles);

}  // namespace twill::strategy
