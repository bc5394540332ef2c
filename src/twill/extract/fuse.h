#pragma once

#include "twill/extract/tile_graph.h"

namespace twill::extract {

/// Joins chains of element-wise ops into the tile operations a kernel engineer would name.
///
/// An op joins its only reader in the same iteration, if both work on the same tile and unit class
/// (core, MUFU, narrowing conversion). Row vectors join whatever the unit. A multiplication whose
/// product is only added to or subtracted from becomes one fused multiply-add. Joining into an only
/// reader cannot close a circuit. An op that repeats a member's work, but waits for other products
/// or copies, does not join. So the running sums of a loop unrolled in the source stay apart.
TileGraph fuse(TileGraph graph);

}  // namespace twill::extract
