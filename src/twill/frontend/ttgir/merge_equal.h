#pragma once

#include <optional>
#include <vector>

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// An op that repeats the computation of an earlier op.
struct MergedOp {
  ir::OpId kept;     ///< op of the given Program
  ir::OpId removed;  ///< op of the given Program
};

struct Merged {
  ir::Program program;
  std::vector<MergedOp> ops;  ///< ordered by the removed ops in the text
};

/// Merges floating-point arithmetic and reductions of tiles that compute the same values, in any
/// layouts. Kept is the first op whose result is defined at the others. Of equal carried values,
/// only one is carried. Readers of another layout read through ttg.convert_layout; unread ops are
/// left out. The new Program stores the same bits (equality: see `equal_values`).
///
/// Index arithmetic stays, since each use recomputes it. Loads stay, too, except unread loads.
///
/// nullopt if no ops can be merged. Cost: as `equal_values`.
std::optional<Merged> merge_equal(const ir::Program& program);

}  // namespace twill::frontend::ttgir
