#pragma once

#include <optional>

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// Makes one loop of loops that add to the same tiles, as a convolution over rows, columns and
/// channels has them. The outer ones only compute indices and addresses for the inner one, and hand
/// its values through. Bounds are the same in all iterations of the loops around. The numbers of
/// iterations are taken to have a product that their type holds.
///
/// nullopt if there are none.
std::optional<ir::Program> flat_nests(const ir::Program& program);

}  // namespace twill::frontend::ttgir
