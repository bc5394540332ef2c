#pragma once

#include <cstddef>
#include <vector>

#include "twill/extract/tile_graph.h"

namespace twill::extract {

/// Sets of ops that the compiler interleaves element by element, since each depends only on earlier
/// ops of the set. Example: exp2, the row sum of its results, their conversion. At best they take
/// the time of their most loaded pipe, not the sum of their times. Only sets of two or more, each
/// in the order of the ops; an op is in at most one.
std::vector<std::vector<std::size_t>> chains_of(const TileGraph& graph);

}  // namespace twill::extract
