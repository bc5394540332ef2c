#pragma once

#include <optional>

#include "twill/frontend/ttgir/flat_loop.h"
#include "twill/ir/program.h"

/// A flat loop as the two loops it was made of.
namespace twill::frontend::ttgir {

/// The bounds of a loop that does not run yet. `upper` as a number where no value of the Program
/// has it.
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
  /// Carried arguments that are the tile's index less the step at the begin of a tile, with the
  /// values that are the index itself.
  std::map<ir::ValueId, ir::ValueId> indices;
  Bounds steps;
  /// The value that counts the steps: of `flat.at_first`, or the counter.
  ir::ValueId counts;
};

/// nullopt if the tiles are not counted as a loop over them would, or if tiles may be without a
/// step. `guarded`: the loop is left out where tiles have no step, so that there may be none.
std::optional<NestPlan> plan_nest(const ir::Program& program, const FlatLoop& flat, bool guarded,
                                  Terms& terms);

/// The Program with the nest in place of the flat loop. nullopt if a value that only steps compute
/// is needed outside of them.
std::optional<ir::Program> with_nest(const ir::Program& program, const NestPlan& plan,
                                     Terms& terms);

/// The number of steps of a tile without its guard against 0: `steps` of max(steps, 1).
std::optional<ir::ValueId> unguarded_steps(const ir::Program& program, const FlatLoop& flat);

}  // namespace twill::frontend::ttgir
