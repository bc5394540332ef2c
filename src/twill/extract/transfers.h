#pragma once

#include <vector>

#include "twill/extract/extract.h"
#include "twill/extract/price_ops.h"

namespace twill::extract {

/// Replaces delays by transfer ops for values in registers of `parts`, if the pool has several
/// groups of that width. The ops of `parts` are the graph's ops. Returns the origins of the new
/// ops, in their order. A value that an op reads at two distances keeps its delay.
Result<std::vector<OpOrigin>> add_transfers(const TileGraph& graph, const Pricing& pricing,
                                            problem::Parts& parts);

}  // namespace twill::extract
