#pragma once

#include <vector>

#include "twill/extract/body.h"
#include "twill/extract/tile_graph.h"

namespace twill::extract {

/// Finds the ops that wait for chained loads: loads whose address depends on a load of an earlier
/// iteration, as in a linked list. All loads of a while loop are chained if its condition depends
/// on a load. An op that needs such an index, mask or factor waits for these loads between its
/// executions. If only the loop's condition needs them, all ops wait. Values that ops of the graph
/// compute have edges already. Cost: linear in the body for each load, and cubic in the chained
/// loads.
std::vector<LoadChain> load_chains(const Body& body, const TileGraph& graph);

}  // namespace twill::extract
