#include "twill/ir/op_kind.h"

#include <array>
#include <cstddef>

namespace twill::ir {

OpClass class_of(OpKind kind) {
  static constexpr std::array kClasses = {
#define TWILL_CLASS(enumerator, op_class) OpClass::op_class,
      TWILL_OP_KINDS(TWILL_CLASS)
#undef TWILL_CLASS
  };
  return kClasses[static_cast<std::size_t>(kind)];
}

bool is_spread(OpKind kind) {
  return kind == OpKind::block_gather || kind == OpKind::block_scatter ||
         kind == OpKind::block_gather_async || kind == OpKind::block_scatter_async;
}

}  // namespace twill::ir
