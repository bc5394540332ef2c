#include "twill/driver/around_tiles.h"

#include <algorithm>
#include <string>

#include "twill/ir/loop.h"
#include "twill/ir/operands.h"
#include "twill/ir/type.h"

namespace twill::driver {

using When = plan::PerTileOp::When;

bool writes_global(const ir::Program& program, ir::OpId id) {
  return std::ranges::any_of(ir::walk(program, id), [&](ir::OpId op) {
    const auto access = ir::memory_access(program.op(op));
    return access && access->writes && access->space == ir::AccessSpace::global;
  });
}

namespace {

bool is_in_a_loop(const ir::Program& program, ir::OpId op) {
  for (auto at = ir::parent(program, op); at; at = ir::parent(program, *at)) {
    if (ir::is_loop(program.op(*at).kind)) return true;
  }
  return false;
}

/// Whether an op needs no shared or tensor memory.
bool is_in_registers(const ir::Program& program, ir::OpId id) {
  const ir::Op& op = program.op(id);
  const auto access = ir::memory_access(op);
  if (access && access->space != ir::AccessSpace::global) return false;
  return std::ranges::none_of(op.operands, [&](ir::ValueId it) {
    return ir::type_of(program, it)->kind == ir::TypeKind::memdesc;
  });
}

}  // namespace

Result<When> when_of(const ir::Program& program, ir::OpId op, bool before, bool in_loop) {
  const auto refuse = [&](const std::string& why) {
    return fail(ir::text_location(program, op), program.op(op).name + why);
  };
  if (before && in_loop && writes_global(program, op)) {
    return refuse(" writes in front of the loop over tiles, and plans do such ops once per tile");
  }
  if (before || !in_loop) return before ? When::before : When::after;
  if (is_in_a_loop(program, op)) {
    return refuse(" is between two loops over tiles, and plans do ops once per tile or at the end");
  }
  for (const ir::OpId inner : ir::walk(program, op)) {
    if (ir::is_loop(program.op(inner).kind)) {
      return refuse(" is a loop on tiles behind the loop over tiles, which no plan has");
    }
    if (!is_in_registers(program, inner)) {
      return refuse(
          " is behind the loop over tiles and needs shared memory, as only ops of a tile do");
    }
  }
  return When::end;
}

}  // namespace twill::driver
