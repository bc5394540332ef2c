#pragma once

#include <cstdint>
#include <optional>

#include "twill/extract/tile_graph.h"

namespace twill::extract {

/// How the tiles of a loop are cut into sub-tiles of rows.
struct SubTiling {
  TileGraph graph;
  int parts = 1;
  std::int64_t rows = 0;  ///< of one part along the cut axis; 0 if nothing is cut
};

/// The axis to be cut: the rows (M) of the most work of products, the first among equals. Empty
/// without a product.
std::optional<AxisId> rows_of_products(const TileGraph& graph);

/// Cuts the axis that most tensor-core work has as its rows (M of the products) into parts of
/// `rows`. Ops that work on the axis are repeated per part; copies into shared memory stay whole
/// and are shared, and so do bulk stores, of what all parts have staged; a product that contracts
/// the axis becomes one shared product if its operands lie in shared or tensor memory. Else it
/// becomes a chain of partial sums, each part adding to the accumulator of the one before. Row
/// vectors that only parts read are computed by each.
///
/// `rows` of 0 cuts nothing. Fails with the reason if the axis cannot be cut: by a reduction, scan
/// or reshape along it, or an extent not divisible by `rows`. Fails if `rows` is no multiple of
/// `block`, the rows of one tensor-core instruction.
Result<SubTiling> sub_tile(const TileGraph& graph, std::int64_t rows, std::int64_t block);

}  // namespace twill::extract
