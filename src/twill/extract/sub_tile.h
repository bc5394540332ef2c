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

/// The axis with the most products' work on it as rows, the first one of equals: what is cut, if
/// anything is. Nothing if there is no product.
std::optional<AxisId> rows_of_products(const TileGraph& graph);

/// Cuts the axis that most tensor-core work has as its rows (M of the products) into parts of
/// `rows`. Ops that work on the axis are repeated per part; copies into shared memory stay whole
/// and are shared; a product that contracts the axis becomes one shared product if what it
/// contracts lies in shared or tensor memory, else a chain of partial sums, one part adding to
/// the accumulator of the one before; row vectors that only parts read are computed by each.
///
/// `rows` of 0 cuts nothing. Fails with the reason if the axis cannot be cut: a reduction or scan
/// along it, a reshape through it, or an extent that is no multiple of `rows`; and if `rows` is no
/// multiple of `block`, the rows that one instruction of the tensor core takes.
Result<SubTiling> sub_tile(const TileGraph& graph, std::int64_t rows, std::int64_t block);

}  // namespace twill::extract
