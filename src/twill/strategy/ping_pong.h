#pragma once

#include <cstddef>
#include <vector>

#include "twill/problem/ops.h"
#include "twill/schedule/region.h"
#include "twill/strategy/strategy.h"
#include "twill/strategy/sub_tiles.h"

/// Internal to the room: Triton's ping-pong.
namespace twill::strategy {

/// Limit on regions: Triton uses named barriers 7 to 14, a pair for each region.
inline constexpr std::size_t kMostRegions = 4;

/// Finds the critical regions of two consumers.
///
/// - A region is an op that each sub-tile has once: a product of the consumers. Where products have
///   a partition of their own, the op is the exponentials of a tile.
/// - Between the regions of one consumer no other op may touch memory, and in source order one
///   consumer's regions come before the other's.
/// - A region lasts to the first op that touches memory: to the product itself, or to an op behind
///   the exponentials.
///
/// At most kMostRegions, in source order. `streams`: the ops of each group, in its order. Cost:
/// regions times ops and dependences.
schedule::Regions ping_pong(const Problem& problem, const SubTiles& tiles,
                            const std::vector<GroupId>& groups,
                            const std::vector<std::vector<OpId>>& streams,
                            const std::vector<bool>& exponentials);

/// Dependences by which turns follow each other, as an order without values.
std::vector<problem::Dependence> order_of_turns(const Problem& problem,
                                                const std::vector<schedule::Region>& regions);

}  // namespace twill::strategy
