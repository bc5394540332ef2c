#pragma once

#include <optional>
#include <string>

#include "twill/ir/program.h"

namespace twill::ir {

/// `misfit` of a product: extents, elements, and the instruction that wgmma's layout names.
/// Precondition: `mma_operands(op)` has a value.
std::optional<std::string> product_misfit(const Program& program, const Op& op);

}  // namespace twill::ir
