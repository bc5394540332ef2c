#pragma once

#include <optional>

#include "twill/extract/body.h"
#include "twill/extract/tile_graph.h"

/// Branches of the loop that hold ops. A printed kernel executes such a branch as a whole, at the
/// place of its last op.
namespace twill::extract {

/// The outermost branch around an op of the loop; nullopt for an op directly in the loop's body.
std::optional<ir::OpId> branch_around(const Body& body, ir::OpId op);

/// Makes the last ops of each branch read all inputs of the branch: copies of loads, and tiles made
/// before the branch. So these inputs are kept until then. A last op of a part of the tile is an op
/// that no other op of the branch follows in the same iteration. The ops of a part must run in one
/// group, and join the sets of `graph.together`. Readers of a branch's result come after the last
/// ops, since the other side is computed there. Cost: ops of branches times edges.
void keep_for_branches(const Body& body, TileGraph& graph);

}  // namespace twill::extract
