#pragma once

#include <vector>

#include "twill/extract/extract.h"
#include "twill/extract/price_ops.h"

namespace twill::extract {

/// Gives the values in registers of `parts`, whose ops are those of the graph, hand-offs in place of
/// transfers, where the pool has groups of that width to cross between; what the new ops stand for,
/// in their order. A value that an op reads at two distances keeps its transfer.
Result<std::vector<OpOrigin>> add_hand_offs(const TileGraph& graph, const Pricing& pricing,
                                            problem::Parts& parts);

}  // namespace twill::extract
