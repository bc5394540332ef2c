#pragma once

#include <optional>
#include <string>

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// What does not fit in the types of one op, of those whose meaning we know: casts, comparisons,
/// views, reductions, products, accesses to memory. Shapes, elements, and layouts as far as they
/// say how wide elements are. Nothing: it fits, or the op or one of its types is not known.
/// Control flow and ops with a single type are for `check_structure`. Cost: constant per operand.
std::optional<std::string> misfit(const ir::Program& program, ir::OpId op);

}  // namespace twill::frontend::ttgir
