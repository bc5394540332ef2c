#pragma once

#include <optional>

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// Makes descriptors from the tensor maps that a module writes into scratch memory. Triton turns a
/// tt.make_tensor_descriptor into an allocation, a map and a cast; this pass undoes that. A map
/// with unknown pieces, or with another reader, stays unchanged.
///
/// Returns nullopt without such a map.
std::optional<ir::Program> whole_descriptors(const ir::Program& program);

}  // namespace twill::frontend::ttgir
