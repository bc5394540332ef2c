#pragma once

#include <cstddef>
#include <optional>

#include "twill/frontend/ttgir/terms.h"
#include "twill/ir/program.h"

/// Removes branches that skip a loop whose inner loop has no iteration.
namespace twill::frontend::ttgir {

/// Returns the Program in which the branch with the loop `inner` replaces its scf.if `guard`. The
/// other branch is region `without_steps` of the guard. nullopt unless both branches are proven
/// equal for an `inner` without iterations. Equal branches write the same values to the same places
/// of global memory, in the same loops.
std::optional<ir::Program> without_guard(const ir::Program& program, ir::OpId guard,
                                         std::size_t without_steps, ir::OpId inner);

}  // namespace twill::frontend::ttgir
