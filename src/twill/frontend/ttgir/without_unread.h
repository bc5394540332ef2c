#pragma once

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// The Program without ops whose results have no reader: pure ones, plain loads, products, copies
/// in shared memory. Values that a scf.for carries only for itself are left out as well. It stores the same, at the same lines. Cost: about
/// linear in the Program.
ir::Program without_unread(const ir::Program& program);

}  // namespace twill::frontend::ttgir
