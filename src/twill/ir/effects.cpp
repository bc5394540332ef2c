#include "twill/ir/effects.h"

namespace twill::ir {

Effect effect_of(const Op& op) {
  switch (class_of(op.kind)) {
    case OpClass::store:
      return Effect::writes;
    case OpClass::copy:
      return op.access && op.access->writes ? Effect::writes : Effect::none;
    case OpClass::update:
      return op.publishes || op.kind == OpKind::atomic_compare ? Effect::orders : Effect::writes;
    case OpClass::load:
      return op.is_volatile ? Effect::orders : Effect::none;
    case OpClass::synchronization:
      // These ops order accesses to buffers, which the plan of a loop orders anew.
      if (op.kind == OpKind::shared_end || op.kind == OpKind::proxy_fence) return Effect::none;
      return Effect::orders;
    case OpClass::remark:
      return op.kind == OpKind::assume ? Effect::none : Effect::remark;
    case OpClass::other:
      if (op.kind == OpKind::inline_asm) return op.is_pure ? Effect::none : Effect::orders;
      return op.results.empty() ? Effect::unknown : Effect::none;
    default:
      return op.kind == OpKind::call ? Effect::orders : Effect::none;
  }
}

}  // namespace twill::ir
