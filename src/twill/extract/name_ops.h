#pragma once

#include "twill/extract/tile_graph.h"

namespace twill::extract {

/// Gives every op a readable, unique identifier: its work ("scale_sub", "exp2", "mma"), and a
/// number if several do the same. Row vectors have the prefix "vec".
TileGraph name_ops(TileGraph graph);

}  // namespace twill::extract
