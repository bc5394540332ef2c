#pragma once

#include <optional>
#include <string>

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// `misfit` of a product: extents, elements, and the instruction that wgmma's layout names.
/// Precondition: `mma_operands(op)` has a value.
std::optional<std::string> product_misfit(const ir::Program& program, const ir::Op& op);

}  // namespace twill::frontend::ttgir
