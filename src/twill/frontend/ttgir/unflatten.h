#pragma once

#include <optional>
#include <vector>

#include "twill/ir/program.h"

/// Restores the nest of loops over the steps of all tiles.
namespace twill::frontend::ttgir {

struct Unflattened {
  ir::Program program;
  std::vector<int> lines;  ///< lines of the flat loops, in the order of the text
};

/// Restores the two loops of every loop that Triton flattened (`tl.range(..., flatten=True)`).
/// Triton makes one loop of `for tile { before; for step { body }; after }`. The flat loop counts
/// the tile's steps, and has `before` and `after` in conditionals on the counter. A guard may test
/// for tiles without a step: scf.if steps <= 0, with another loop over the tiles. That branch is
/// dropped once it is proven equal to the nest. A loop that differs from
/// docs/reference/extraction.md, "Flattened loops", stays unchanged. Both new loops have the line
/// of the flat loop; other ops keep their lines.
///
/// Precondition of the equality: sizes are not negative, and numbers of iterations do not overflow.
/// Returns nullopt without a flat loop. Cost: linear in the Program, once more for each flat loop.
std::optional<Unflattened> unflatten(const ir::Program& program);

}  // namespace twill::frontend::ttgir
