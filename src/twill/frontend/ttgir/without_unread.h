#pragma once

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// The Program without pure ops and plain loads whose results nobody reads, and without values that
/// a scf.for carries for nobody but itself. What is left stores the same, at the same lines.
/// Cost: about linear in the Program.
ir::Program without_unread(const ir::Program& program);

}  // namespace twill::frontend::ttgir
