#pragma once

#include "twill/ir/program.h"

namespace twill::ir {

/// True for ops that only rename a register tile or a tile in shared memory: more dimensions of
/// size 1, rows or columns that are repeated, another layout.
bool is_view(OpKind kind);

/// True for ops whose results are their operands, in another layout or known to be there.
bool is_renaming(OpKind kind);

/// The value behind `value`, without views and changes of layout.
ValueId behind_views(const Program& program, ValueId value);

}  // namespace twill::ir
