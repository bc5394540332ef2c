#pragma once

#include <span>
#include <vector>

#include "twill/problem/ops.h"
#include "twill/support/diagnostic.h"

/// Internal to the room: which ops of a loop work on the same rows.
namespace twill::strategy {

using problem::OpId;

struct SubTiles {
  std::vector<int> part;  ///< by OpId, from 0; -1: works for all of them
  int count = 1;
};

/// Sub-tiles as `known` has them. If that is empty or names none, the parts of the loop that
/// exchange no values are its sub-tiles; loads do not count, and a part has asynchronous work of
/// its own. A loop without such a cut is one sub-tile.
SubTiles sub_tiles_of(const problem::Problem& problem, std::span<const int> known);

/// By OpId, the counterpart in sub-tile 0; a shared op is its own counterpart. Fails unless all
/// sub-tiles do the same work in the same order.
Result<std::vector<OpId>> counterparts(const problem::Problem& problem, const SubTiles& tiles);

}  // namespace twill::strategy
