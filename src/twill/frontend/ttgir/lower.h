#pragma once

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// Tile operation of an op, by its name, attributes and number of operands, which must be set. Only
/// this function translates Triton's operations to tile operations. An attribute of another kind
/// than Triton's counts as absent.
ir::Traits lowered(const ir::Op& op);

}  // namespace twill::frontend::ttgir
