#include "twill/ir/views.h"

namespace twill::ir {

bool is_view(OpKind kind) {
  switch (kind) {
    case OpKind::tt_expand_dims:
    case OpKind::tt_broadcast:
    case OpKind::ttg_convert_layout:
    case OpKind::ttg_memdesc_trans:
      return true;
    default:
      return false;
  }
}

ValueId behind_views(const Program& program, ValueId value) {
  for (const Op* op = defining_op(program, value); op != nullptr && is_view(op->kind);
       op = defining_op(program, value)) {
    value = op->operands[0];
  }
  return value;
}

}  // namespace twill::ir
