#pragma once

#include <span>
#include <vector>

#include "twill/problem/ops.h"
#include "twill/support/diagnostic.h"

/// Internal to the room: sub-tiles, the ops of a loop that work on the same rows.
namespace twill::strategy {

using problem::OpId;

struct SubTiles {
  std::vector<int> part;  ///< by OpId, from 0; -1: shared by all sub-tiles
  int count = 1;
};

/// Finds sub-tiles as `known` has them. If `known` is empty or names none, the parts of the loop
/// that exchange no values are its sub-tiles. Loads do not count, and a part has asynchronous work
/// of its own. A loop without such a cut is one sub-tile.
SubTiles sub_tiles_of(const problem::Problem& problem, std::span<const int> known);

/// Counterpart of each op in sub-tile 0, by OpId; a shared op is its own counterpart. Fails unless
/// all sub-tiles do the same work in the same order.
Result<std::vector<OpId>> counterparts(const problem::Problem& problem, const SubTiles& tiles);

}  // namespace twill::strategy
