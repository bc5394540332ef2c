#pragma once

#include <optional>
#include <vector>

#include "twill/ir/program.h"

/// Loops over the steps of all tiles, given their nest back.
namespace twill::frontend::ttgir {

struct Unflattened {
  ir::Program program;
  std::vector<int> lines;  ///< of the text: where the flat loops stood, in its order
};

/// Triton makes one loop of `for tile { before; for step { body }; after }`
/// (`tl.range(..., flatten=True)`), with a counter of the tile's steps and `before` and `after` in
/// conditionals on it. This gives every such loop its two loops back. Where the flat loop is
/// guarded against tiles without a step (scf.if steps <= 0, with another loop over the tiles in
/// it), that must be proven to be what the nest does then, and goes. A loop of which anything is
/// otherwise than in docs/reference/extraction.md, "Flattened loops", stays as it is. Both new
/// loops stand at the line of the flat one; everything else keeps its line.
///
/// Precondition of the equality: sizes are not negative, and numbers of iterations do not overflow.
/// nullopt: there is no such loop. Cost: linear in the Program, once more for each flat loop.
std::optional<Unflattened> unflatten(const ir::Program& program);

}  // namespace twill::frontend::ttgir
