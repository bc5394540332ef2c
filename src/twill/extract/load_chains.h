#pragma once

#include <vector>

#include "twill/extract/body.h"
#include "twill/extract/tile_graph.h"

namespace twill::extract {

/// Makes each op of the graph wait for the loads by which the loop goes from one address to the
/// next, as in a linked list: a load whose address depends on what it, or a load of an earlier
/// iteration, brought. An op that needs such a value (as an index, a mask, a factor; if none does,
/// the loop's condition, and so all ops) cannot come earlier after its own last turn than these
/// loads take. Values that ops of the graph compute have edges already.
/// Cost: linear in the body for each load, and cubic in the loads that are chained.
std::vector<LoadChain> load_chains(const Body& body, const TileGraph& graph);

}  // namespace twill::extract
