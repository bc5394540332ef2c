#pragma once

#include <map>

#include "twill/ir/program.h"
#include "twill/support/diagnostic.h"

namespace twill::extract {

/// By value of a loop's body: its dimension along the axis that sub-tiles cut. A value that is not
/// there has none, and every sub-tile that has it has it whole. Which rows a sub-tile has says
/// `OpOrigin`. Fails as `extract` does if the loop cannot be taken apart.
Result<std::map<ir::ValueId, std::size_t>> cut_dimensions(const ir::Program& program,
                                                          ir::OpId loop);

}  // namespace twill::extract
