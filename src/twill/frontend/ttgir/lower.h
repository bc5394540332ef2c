#pragma once

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// Tile operation of an op, by its name, attributes and number of operands, which must be set. Only
/// here do Triton's operations become tile operations. An attribute of another kind than Triton
/// gives it counts as absent.
ir::Traits lowered(const ir::Op& op);

}  // namespace twill::frontend::ttgir
