#pragma once

#include "twill/schedule/schedule.h"
#include "twill/solve/solve.h"
#include "twill/strategy/strategy.h"
#include "twill/strategy/sub_tiles.h"

/// Internal to the room.
namespace twill::strategy {

/// Arranges every sub-tile in the order and stages of the optimal modulo schedule of a single
/// sub-tile. In that schedule, the other sub-tiles take their share of units, pipes and memory.
/// First finds that schedule, then the least interval at which all sub-tiles run in its order.
/// Writes the order to `terms.streams`. Fails if the sub-tiles differ, or wait for each other in a
/// circle.
Result<schedule::Answer> arrange_alike(Terms& terms, const SubTiles& tiles,
                                       const solve::Options& limits);

}  // namespace twill::strategy
