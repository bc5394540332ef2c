#pragma once

#include <vector>

#include "twill/extract/tile_graph.h"

namespace twill::extract {

/// Adds a copy of a carried sum for ops that read both the old sum and the new sum of a product
/// (`new - acc`). The product overwrites the sum in place, so no order of these readers and the
/// product is right. The copy is a move within registers, before the product. Cost: in-place edges
/// times edges.
TileGraph with_kept_sums(TileGraph graph);

/// For each such copy, the ops that one group runs, in order: the product, the copy, and the copy's
/// readers. The copied value is from another iteration, so it cannot change groups.
std::vector<std::vector<TileOpId>> around_kept_sums(const TileGraph& graph);

}  // namespace twill::extract
