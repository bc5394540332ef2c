#pragma once

#include <optional>
#include <vector>

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// An op that repeats the computation of an earlier one.
struct MergedOp {
  ir::OpId kept;     ///< of the Program that was given
  ir::OpId removed;  ///< likewise
};

struct Merged {
  ir::Program program;
  std::vector<MergedOp> ops;  ///< in order of the removed ops in the text
};

/// Merges floating-point arithmetic and reductions of tiles that compute the same values, in any
/// layouts. The first whose result is defined at the others stays. Of carried values that are
/// always equal, one is carried. Readers of another layout read it through ttg.convert_layout;
/// unread ops are left out. The new Program stores the same bits (`equal_values` documents
/// equality).
///
/// Index arithmetic stays, since it is recomputed at each use. Loads stay, too, but for unread
/// ones.
///
/// nullopt if no ops can be merged. Cost: that of `equal_values`.
std::optional<Merged> merge_equal(const ir::Program& program);

}  // namespace twill::frontend::ttgir
