#pragma once

#include <optional>

#include "twill/extract/body.h"
#include "twill/extract/tile_graph.h"

/// Branches of the loop that hold ops. A printed kernel does such a branch as a whole, where the
/// last of its ops stands.
namespace twill::extract {

/// The outermost branch around an op of the loop; nullopt if it stands in the loop's body.
std::optional<ir::OpId> branch_around(const Body& body, ir::OpId op);

/// Lets the last ops of each branch read all that the branch reads from outside: copies of loads,
/// and tiles made in front of it. So these are kept until then. Of each part of the tile, the last
/// ops are those that no other op of the branch follows in the same iteration. The ops of a part
/// must run in one group, and join the sets of `graph.together`. What reads a result of the branch
/// comes after the last ops: the other side is computed with these.
/// Cost: ops of branches times edges.
void keep_for_branches(const Body& body, TileGraph& graph);

}  // namespace twill::extract
