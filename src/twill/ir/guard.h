#pragma once

#include <optional>

#include "twill/ir/program.h"
#include "twill/ir/terms.h"

/// A loop that is left out where it would do nothing in its inner loop.
namespace twill::ir {

/// The Program without the scf.if `guard`, whose else-branch stands for it. nullopt unless the
/// then-branch is proven to do what the else-branch does if its loop `inner` has no iteration: the
/// same writes to global memory, of the same values to the same places, in the same loops.
std::optional<Program> without_guard(const Program& program, OpId guard, OpId inner);

}  // namespace twill::ir
