#pragma once

#include <cstddef>
#include <optional>

#include "twill/frontend/ttgir/terms.h"
#include "twill/ir/program.h"

/// A loop that is left out where it would do nothing in its inner loop.
namespace twill::frontend::ttgir {

/// The Program without the scf.if `guard`, replaced by its branch with the loop `inner`. nullopt
/// unless the other branch, region `without_steps` of the guard, is proven equal to this one if
/// `inner` has no iteration. Equal means the same writes to global memory, of the same values to
/// the same places, in the same loops.
std::optional<ir::Program> without_guard(const ir::Program& program, ir::OpId guard,
                                         std::size_t without_steps, ir::OpId inner);

}  // namespace twill::frontend::ttgir
