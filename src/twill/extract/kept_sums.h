#pragma once

#include <vector>

#include "twill/extract/tile_graph.h"

namespace twill::extract {

/// Gives ops a copy of a carried sum if they read that sum and what a product adds to it
/// (`new - acc`). The product overwrites the sum in place, so no order of readers and product is
/// right. The copy is a move within registers, and stands before the product. Cost: about edges in
/// place times edges.
TileGraph with_kept_sums(TileGraph graph);

/// Ops that one group runs, in their order, for each such copy: the product, the copy, and all that
/// read it. The value of a copy is another iteration's, so it does not change groups.
std::vector<std::vector<TileOpId>> around_kept_sums(const TileGraph& graph);

}  // namespace twill::extract
