#pragma once

#include <cstddef>
#include <vector>

#include "twill/extract/tile_graph.h"

namespace twill::extract {

/// Sets of ops that the compiler interleaves element by element, because each needs nothing but
/// what the ones before it make: exp2, the row sum of its results, their conversion. At best they
/// take together as long as their most loaded pipe, not the sum of their times. Only sets of two or
/// more, each in the order of the ops; an op is in at most one.
std::vector<std::vector<std::size_t>> chains_of(const TileGraph& graph);

}  // namespace twill::extract
