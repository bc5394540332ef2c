#pragma once

#include <vector>

#include "twill/extract/body.h"
#include "twill/extract/tile_graph.h"

namespace twill::extract {

/// Finds the ops that wait for loads by which the loop goes from one address to the next, as in a
/// linked list. There the address of a load depends on what it, or a load of an earlier iteration,
/// brought. So do all loads of a while loop whose condition depends on a load. An op that needs
/// such an index, mask or factor waits from its own last turn for as long as these loads take. If
/// no op does, but the loop's condition, all ops wait. Values that ops of the graph compute have
/// edges already. Cost: linear in the body for each load, and cubic in the loads that are chained.
std::vector<LoadChain> load_chains(const Body& body, const TileGraph& graph);

}  // namespace twill::extract
