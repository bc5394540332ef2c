#pragma once

#include <optional>
#include <vector>

#include "twill/ir/program.h"

namespace twill::frontend::ttgir {

/// An op that computes what another one has computed before it.
struct MergedOp {
  ir::OpId kept;     ///< of the Program that was given
  ir::OpId removed;  ///< likewise
};

struct Merged {
  ir::Program program;
  std::vector<MergedOp> ops;  ///< in order of the text of what is removed
};

/// Floating-point arithmetic and reductions of tiles that compute the same values, in whatever
/// layouts, become one op: the first of them whose result is defined at the others. Of values that
/// a loop carries and that are always equal, one is carried. What needs the other layout reads it
/// through ttg.convert_layout; what nobody reads any more is left out. The new Program stores the
/// same bits (see `equal_values` for what is known to be equal).
///
/// Index arithmetic stays where it is, since it is made anew where it is needed; so do loads, but
/// for those that nobody reads any more.
///
/// nullopt: there is nothing to merge. Cost: that of `equal_values`.
std::optional<Merged> merge_equal(const ir::Program& program);

}  // namespace twill::frontend::ttgir
