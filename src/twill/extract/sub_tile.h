#pragma once

#include <cstdint>
#include <optional>

#include "twill/extract/tile_graph.h"

namespace twill::extract {

/// Cut of a loop's tiles into sub-tiles of rows.
struct SubTiling {
  TileGraph graph;
  int parts = 1;
  std::int64_t rows = 0;  ///< rows of a part along the cut axis; 0 if nothing is cut
};

/// Axis to be cut: the rows (M) of the products with most work, the first among equals. Empty
/// without a product.
std::optional<AxisId> rows_of_products(const TileGraph& graph);

/// Cuts an axis into parts of `rows`: the rows (M) of most tensor-core work. Repeats ops on that
/// axis for each part. Copies into shared memory stay whole and are shared, as are bulk stores of
/// tiles that all parts staged. A product that contracts the axis becomes one shared product if its
/// operands are in shared or tensor memory. Otherwise it becomes a chain of partial sums: each part
/// adds to the accumulator of the previous part. Each part computes the row vectors that only parts
/// read.
///
/// With `rows` of 0, nothing is cut. Fails with the reason if a reduction, scan or reshape runs
/// along the axis, or `rows` does not divide an extent. Fails if `rows` is no multiple of `block`,
/// the rows of one tensor-core instruction.
Result<SubTiling> sub_tile(const TileGraph& graph, std::int64_t rows, std::int64_t block);

}  // namespace twill::extract
