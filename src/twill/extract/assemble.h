#pragma once

#include <string>

#include "twill/extract/extract.h"
#include "twill/extract/price_ops.h"
#include "twill/extract/sub_tile.h"

namespace twill::extract {

/// Prices the ops and puts the Problem together: widths, registers and footprints, delays, blocking
/// waits, hand-off costs, what is left of the memories, the groups of the pool.
Result<Extraction> assemble(const SubTiling& tiling, const machine::Pool& pool,
                            const Pricing& pricing, const std::string& name, const Options& options);

}  // namespace twill::extract
