#pragma once

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// Removes ops whose results have no reader: pure ops, plain loads, products, copies in shared
/// memory. Also removes values that an scf.for carries only for themselves. The Program stores the
/// same, at the same lines. Cost: about linear in the Program.
ir::Program without_unread(const ir::Program& program);

}  // namespace twill::frontend::ttgir
