#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "twill/frontend/ttgir/terms.h"
#include "twill/ir/loop.h"
#include "twill/ir/program.h"

/// Loops over the steps of all tiles, one tile after the other. Triton makes such loops from two
/// nested loops (`tl.range(..., flatten=True)`).
namespace twill::frontend::ttgir {

/// A value with one definition in one step of a tile, and another in all other steps.
struct Merge {
  ir::ValueId there;      ///< definition in the first step, or in the last
  ir::ValueId elsewhere;  ///< definition in the other steps
};

/// A flat loop of `tiles` times `steps` iterations, with a counter that runs from 0 to `steps` - 1
/// and restarts. Other carried values are in `carried` of the loop.
struct FlatLoop {
  ir::Loop loop;
  std::size_t counter = 0;                ///< number among the carried values
  ir::ValueId steps;                      ///< steps of a tile
  ir::ValueId tiles;                      ///< number of tiles
  std::set<ir::ValueId> first;            ///< conditions `counter == 0`
  std::set<ir::ValueId> last;             ///< conditions `counter == steps - 1`
  std::vector<ir::OpId> before;           ///< scf.if on first, in order
  std::vector<ir::OpId> after;            ///< scf.if on last, in order
  std::vector<ir::OpId> body;             ///< ops of every step, in order
  std::map<ir::ValueId, Merge> at_first;  ///< results of `before`, and selects
  std::map<ir::ValueId, Merge> at_last;   ///< results of `after`, and selects
  std::map<ir::ValueId, ir::ValueId>
      merged_at;  ///< carried argument: the value of `at_first` that it enters

  ir::ValueId counts() const { return loop.carried[counter].argument; }
};

/// Recognizes a flat loop. nullopt for loops that do not have the form of
/// docs/reference/extraction.md, "Flattened loops". Cost: linear in its ops.
std::optional<FlatLoop> as_flat_loop(const ir::Program& program, const ir::Loop& loop,
                                     Terms& terms);

}  // namespace twill::frontend::ttgir
