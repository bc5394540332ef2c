#pragma once

#include "twill/ir/program.h"

namespace twill::ir {

/// The Program without pure ops and plain loads whose results nobody reads, and without values that
/// a scf.for carries for nobody but itself. What is left stores the same, at the same lines.
/// Cost: about linear in the Program.
Program without_unread(const Program& program);

}  // namespace twill::ir
