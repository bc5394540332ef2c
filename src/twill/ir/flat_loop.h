#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "twill/ir/loop.h"
#include "twill/ir/program.h"
#include "twill/ir/terms.h"

/// Loops over the steps of all tiles, one tile after the other, as Triton makes them of two nested
/// loops (`tl.range(..., flatten=True)`).
namespace twill::ir {

/// A value that is one thing in one step of a tile and another in all others.
struct Merge {
  ValueId there;      ///< in the first step, or in the last
  ValueId elsewhere;  ///< in the others
};

/// A flat loop: of `tiles` times `steps` iterations, with a counter that runs from 0 to `steps` - 1
/// and begins anew. What it carries beside the counter: `carried` of the loop.
struct FlatLoop {
  Loop loop;
  std::size_t counter = 0;               ///< which of the carried values
  ValueId steps;                         ///< of a tile
  ValueId tiles;                         ///< how many
  std::set<ValueId> first;               ///< conditions: the counter is 0
  std::set<ValueId> last;                ///< the counter is steps - 1
  std::vector<OpId> before;              ///< scf.if on first, in order
  std::vector<OpId> after;               ///< scf.if on last, in order
  std::vector<OpId> body;                ///< what every step does, in order
  std::map<ValueId, Merge> at_first;     ///< results of `before`, and selects
  std::map<ValueId, Merge> at_last;      ///< results of `after`, and selects
  std::map<ValueId, ValueId> merged_at;  ///< carried argument: the one of `at_first` it enters

  ValueId counts() const { return loop.carried[counter].argument; }
};

/// Reads a loop as a flat one. nullopt if it is none, or anything of it is not as said in
/// docs/reference/extraction.md, "Flattened loops". Cost: linear in its ops.
std::optional<FlatLoop> as_flat_loop(const Program& program, const Loop& loop, Terms& terms);

}  // namespace twill::ir
