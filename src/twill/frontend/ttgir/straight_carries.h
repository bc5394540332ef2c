#pragma once

#include <optional>

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// Lets loops carry tiles in the layout in which they are computed. A loop that carries a
/// transposed tile transposes it twice in each iteration. Triton writes such loops for products
/// with exchanged operands, as for a scaled right operand.
///
/// Returns nullopt without such a loop.
std::optional<ir::Program> straight_carries(const ir::Program& program);

}  // namespace twill::frontend::ttgir
