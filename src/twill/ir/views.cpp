#include "twill/ir/views.h"

namespace twill::ir {

bool is_view(OpKind kind) {
  switch (kind) {
    case OpKind::expand_dims:
    case OpKind::broadcast:
    case OpKind::relayout:
    case OpKind::buffer_transpose:
      return true;
    default:
      return false;
  }
}

bool is_renaming(OpKind kind) { return kind == OpKind::relayout || kind == OpKind::wgmma_wait; }

ValueId behind_views(const Program& program, ValueId value) {
  for (const Op* op = defining_op(program, value); op != nullptr && is_view(op->kind);
       op = defining_op(program, value)) {
    value = op->operands[0];
  }
  return value;
}

}  // namespace twill::ir
