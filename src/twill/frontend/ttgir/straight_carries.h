#pragma once

#include <optional>

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// Lets loops carry tiles in the layout in which they are made. A loop that carries a tile
/// transposed turns it twice in each iteration. Triton writes such loops for products whose
/// operands it exchanges, as for a scaled right operand.
///
/// nullopt if there is none to change.
std::optional<ir::Program> straight_carries(const ir::Program& program);

}  // namespace twill::frontend::ttgir
