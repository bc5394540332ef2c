#pragma once

#include <map>

#include "twill/ir/program.h"
#include "twill/support/diagnostic.h"

namespace twill::extract {

/// For each value of a loop's body, its dimension along the axis that sub-tiles cut. A value
/// without an entry is whole in every sub-tile. `OpOrigin` has the rows of a sub-tile. Fails
/// where `extract` fails before sub-tiles are chosen; a loop that cannot be cut has no entries.
Result<std::map<ir::ValueId, std::size_t>> cut_dimensions(const ir::Program& program,
                                                          ir::OpId loop);

}  // namespace twill::extract
