#pragma once

#include <optional>

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// Makes descriptors of the maps for TMA that a module writes into scratch memory. Triton turns a
/// tt.make_tensor_descriptor into an allocation, a map and a cast, which is undone. A map whose
/// pieces are not found, or that something else reads, stays as it is.
///
/// nullopt if there is none to undo.
std::optional<ir::Program> whole_descriptors(const ir::Program& program);

}  // namespace twill::frontend::ttgir
