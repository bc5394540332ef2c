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

/// Cuts an axis into parts of `rows`: the axis that forms the rows (M) of most tensor-core work.
/// Repeats ops on that axis for each part. Copies into shared memory stay whole and are shared, as
/// are bulk stores of tiles that all parts staged. A product that contracts the axis becomes one
/// shared product if its operands lie in shared or tensor memory. Otherwise it becomes a chain of
/// partial sums, in which each part adds to the accumulator of the part before. Row vectors that
/// only parts read are computed by each part.
///
/// `rows` of 0 cuts nothing. Fails with the reason if the axis cannot be cut: by a reduction, scan
/// or reshape along it, or an extent not divisible by `rows`. Fails if `rows` is no multiple of
/// `block`, the rows of one tensor-core instruction.
Result<SubTiling> sub_tile(const TileGraph& graph, std::int64_t rows, std::int64_t block);

}  // namespace twill::extract
