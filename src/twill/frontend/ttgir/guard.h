#pragma once

#include <optional>

#include "twill/frontend/ttgir/terms.h"
#include "twill/ir/program.h"

/// A loop that is left out where it would do nothing in its inner loop.
namespace twill::frontend::ttgir {

/// The Program without the scf.if `guard`, whose else-branch stands for it. nullopt unless the
/// then-branch is proven to do what the else-branch does if its loop `inner` has no iteration: the
/// same writes to global memory, of the same values to the same places, in the same loops.
std::optional<ir::Program> without_guard(const ir::Program& program, ir::OpId guard,
                                         ir::OpId inner);

}  // namespace twill::frontend::ttgir
