#pragma once

#include "twill/extract/body.h"
#include "twill/extract/tile_graph.h"

namespace twill::extract {

/// The tile operations of a loop body, one per Program op that works on a tile. Views, broadcasts,
/// layout changes, constants and scalar arithmetic are contracted. Index arithmetic goes into its
/// loads and stores; versions of memory become values. Every rule is in
/// docs/reference/extraction.md.
TileGraph contract(const Body& body);

/// Whether the body waits for barriers or copies. Only loops that a pipeliner has already
/// transformed do so.
bool is_pipelined(const Body& body);

}  // namespace twill::extract
