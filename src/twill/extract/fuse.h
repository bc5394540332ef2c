#pragma once

#include "twill/extract/tile_graph.h"

namespace twill::extract {

/// Joins chains of element-wise ops into the tile operations that a kernel engineer would name.
///
/// An op joins its only reader in the same iteration if both work on the same tile and unit class
/// (core, MUFU, narrowing conversion). Row vectors join any unit. A multiplication whose product is
/// only added or subtracted becomes a fused multiply-add. Joining an only reader cannot close a
/// circuit. An op that repeats another member's work, but waits for other products or copies, does
/// not join. So the running sums of a loop unrolled in the source stay apart.
TileGraph fuse(TileGraph graph);

}  // namespace twill::extract
