#include "twill/ir/effects.h"

#include <algorithm>

namespace twill::ir {

Effect effect_of(const Op& op) {
  switch (class_of(op.kind)) {
    case OpClass::store:
      return Effect::writes;
    case OpClass::copy:
      if (op.kind == OpKind::tensor_copy) return Effect::unknown;
      return op.access && op.access->writes ? Effect::writes : Effect::none;
    case OpClass::update:
      return op.publishes || op.kind == OpKind::atomic_compare ? Effect::orders : Effect::writes;
    case OpClass::load:
      return op.is_volatile ? Effect::orders : Effect::none;
    case OpClass::synchronization:
      // Deallocations and proxy fences order accesses to buffers. The plan of a loop makes that
      // order anew.
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

bool is_effect(const Program& program, OpId id) {
  return class_of(program.op(id).kind) == OpClass::copy ||
         effect_of(program.op(id)) != Effect::none;
}

bool is_pure(const Program& program, OpId id) {
  const Op& op = program.op(id);
  switch (op.kind) {
    case OpKind::library_call:
    case OpKind::inline_asm:
      return op.is_pure;
    case OpKind::gather:
    case OpKind::histogram:
    case OpKind::poison:
      return true;
    case OpKind::branch: {
      const std::vector<OpId> all = walk(program, id);
      return std::all_of(all.begin() + 1, all.end(), [&](OpId inner) {
        return program.op(inner).kind == OpKind::yield || is_pure(program, inner);
      });
    }
    default:
      break;
  }
  switch (class_of(op.kind)) {
    case OpClass::value:
    case OpClass::elementwise:
    case OpClass::view:
    case OpClass::rearrangement:
    case OpClass::reduction:
      return true;
    default:
      return false;
  }
}

bool only_reads(const Program& program, OpId id) {
  const std::vector<OpId> all = walk(program, id);
  return std::all_of(all.begin(), all.end(), [&](OpId at) {
    switch (program.op(at).kind) {
      case OpKind::branch:
      case OpKind::for_loop:
      case OpKind::yield:
      case OpKind::combined:
      case OpKind::load:
      case OpKind::mma:
        return true;
      default:
        return is_pure(program, at);
    }
  });
}

}  // namespace twill::ir
