#pragma once

#include <optional>

#include "twill/frontend/ttgir/flat_loop.h"
#include "twill/ir/program.h"

/// Restores the two loops from which a flat loop was made.
namespace twill::frontend::ttgir {

/// Bounds of a loop to be written. `upper_number` is used if no value of the Program is the upper
/// bound.
struct Bounds {
  ir::ValueId lower;
  std::optional<ir::ValueId> upper;
  std::int64_t upper_number = 0;
  ir::ValueId step;
};

/// `for tile { before; for step { body }; after }` of a flat loop.
struct NestPlan {
  FlatLoop flat;
  Bounds tiles;
  /// Carried arguments that equal the tile's index less the step at the begin of a tile, with the
  /// values that equal the index.
  std::map<ir::ValueId, ir::ValueId> indices;
  Bounds steps;
  /// Value that counts the steps: of `flat.at_first`, or the counter.
  ir::ValueId counts;
};

/// Plans the nest. nullopt if the tiles are not counted as by a loop over tiles, or if a tile may
/// have no step. `guarded`: a branch skips the loop for tiles without steps, so tiles may have
/// none.
std::optional<NestPlan> plan_nest(const ir::Program& program, const FlatLoop& flat, bool guarded,
                                  Terms& terms);

/// Replaces the flat loop by the nest. nullopt if a value that only steps compute is needed outside
/// of them.
std::optional<ir::Program> with_nest(const ir::Program& program, const NestPlan& plan,
                                     Terms& terms);

/// Number of a tile's steps without its guard against 0: `steps` of max(steps, 1).
std::optional<ir::ValueId> unguarded_steps(const ir::Program& program, const FlatLoop& flat);

}  // namespace twill::frontend::ttgir
