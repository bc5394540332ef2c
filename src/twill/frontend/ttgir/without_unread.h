#pragma once

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// The Program without pure ops, plain loads, and products and copies in shared memory whose
/// results have no reader, and without values that a scf.for carries only for itself. It stores the same, at the same lines. Cost: about
/// linear in the Program.
ir::Program without_unread(const ir::Program& program);

}  // namespace twill::frontend::ttgir
