#pragma once

#include <string>

#include "twill/extract/extract.h"
#include "twill/extract/price_ops.h"
#include "twill/extract/sub_tile.h"

namespace twill::extract {

/// Prices the ops and assembles the Problem: widths, registers and footprints, delays, blocking
/// waits, costs of transfers, free memory, and the groups of the pool.
Result<Extraction> assemble(const SubTiling& tiling, const machine::Pool& pool,
                            const Pricing& pricing, const std::string& name, const Options& options);

}  // namespace twill::extract
