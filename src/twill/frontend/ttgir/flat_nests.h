#pragma once

#include <optional>

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// Makes one loop of nested loops that add to the same tiles, such as a convolution over rows,
/// columns and channels. The outer loops only compute indices and addresses for the inner loop, and
/// pass its values through. Bounds are equal in all iterations of the loops around. Assumes that
/// the product of the iteration numbers fits its type.
///
/// Returns nullopt without such a nest.
std::optional<ir::Program> flat_nests(const ir::Program& program);

}  // namespace twill::frontend::ttgir
