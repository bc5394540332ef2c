#pragma once

#include <string>
#include <vector>

#include "twill/extract/tile_graph.h"

namespace twill::extract {

/// A readable, unique identifier for every op: what it does ("scale_sub", "exp2", "mma"), a number
/// if several do the same, and a letter for its sub-tile: "mma0A".
std::vector<std::string> name_ops(const TileGraph& graph);

}  // namespace twill::extract
