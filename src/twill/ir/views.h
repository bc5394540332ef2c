#pragma once

#include "twill/ir/program.h"

namespace twill::ir {

/// True for ops that only rename a tile in registers or shared memory: added dimensions of size 1,
/// repeated rows or columns, another layout.
bool is_view(OpKind kind);

/// True for ops whose results are their operands, perhaps in another layout or after a wait.
bool is_renaming(OpKind kind);

/// The value from which `value` is made by views and changes of layout.
ValueId behind_views(const Program& program, ValueId value);

}  // namespace twill::ir
