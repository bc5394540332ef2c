#pragma once

#include <vector>

#include "twill/problem/ops.h"
#include "twill/strategy/sub_tiles.h"
#include "twill/support/diagnostic.h"

/// Internal to the room: assigns ops to the groups of the pool.
namespace twill::strategy {

using problem::GroupId;

/// Groups that compute: the widest groups that are no load groups.
std::vector<GroupId> compute_groups(const problem::Problem& problem);

/// Assigns each op a group, by OpId. Loads go to a load group. Ops for narrower groups go to one of
/// their width, ops on one unit together. Other ops go by sub-tiles to the compute groups, shared
/// ops to the first. Fails if there is no group for an op, or nothing to load.
Result<std::vector<GroupId>> specialized(const problem::Problem& problem, const SubTiles& tiles);

/// Assigns each op a group when there are compute groups alone: each runs all ops of its sub-tiles,
/// with the loads.
std::vector<GroupId> unspecialized(const problem::Problem& problem, const SubTiles& tiles);

}  // namespace twill::strategy
