#pragma once

#include "twill/extract/tile_graph.h"

namespace twill::extract {

/// Joins chains of element-wise ops into the tile operations a kernel engineer would name.
///
/// An op joins the op that reads it if that is the only reader, in the same iteration, works on the
/// same tile and on the same unit class (core, MUFU, narrowing conversion). Row vectors join
/// whatever the unit. A multiplication whose product is only added to or subtracted from becomes
/// one fused multiply-add. Joining into an only reader cannot close a circuit. An op that does again
/// what a member does, but waits for other products or copies, does not join: the running sums of a
/// loop unrolled in the source stay apart.
TileGraph fuse(TileGraph graph);

}  // namespace twill::extract
