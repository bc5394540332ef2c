#include "twill/run/drivers.h"

#include "twill/ir/loop.h"
#include "twill/ir/program.h"

namespace twill::run {
namespace {

/// What a value is computed from, directly: an argument of a block by what enters it.
void add_sources(const ir::Program& program, ir::ValueId value, std::vector<ir::ValueId>& todo) {
  const auto& known = program.value(value);
  const ir::OpId op = known.op ? *known.op : program.region(program.block(*known.block).region).op;
  if (!known.op && program.op(op).kind == ir::OpKind::function) return;
  for (const ir::OpId inner : ir::walk(program, op)) {
    const auto& operands = program.op(inner).operands;
    todo.insert(todo.end(), operands.begin(), operands.end());
    // Of a loop around the value, what is carried may decide; of an op, all that it holds.
    if (!known.op && inner == op) break;
  }
  if (known.op) return;
  const auto loop = ir::as_loop(program, op);
  if (!loop) return;
  for (const ir::Carried& carried : loop->carried) {
    if (carried.argument == value) todo.push_back(carried.yielded);
  }
}

}  // namespace

std::set<std::string> drivers_of(const Kernel& kernel) {
  const ir::Program& program = kernel.planned;
  const auto loop = ir::as_loop(program, kernel.loop);
  std::vector<ir::ValueId> todo;
  for (const auto& bound : {loop->lower, loop->upper, loop->step}) {
    if (bound) todo.push_back(*bound);
  }
  const auto function = ir::enclosing(program, kernel.loop, ir::OpKind::function);
  const auto arguments = ir::function_arguments(program, *function);
  std::set<ir::ValueId> seen;
  std::set<std::string> drivers;
  while (!todo.empty()) {
    const ir::ValueId value = todo.back();
    todo.pop_back();
    if (!seen.insert(value).second) continue;
    const bool integer = ir::type_of(program, value)->kind == ir::TypeKind::integer;
    for (const ir::ValueId argument : arguments) {
      if (argument == value && integer) drivers.insert(program.value(value).name);
    }
    add_sources(program, value, todo);
  }
  return drivers;
}

unsigned axes_of(const Kernel& kernel) {
  unsigned axes = 0;
  for (const ir::OpId id : ir::walk(kernel.text, kernel.function)) {
    const ir::Op& op = kernel.text.op(id);
    if (op.kind != ir::OpKind::program_id) continue;
    const auto axis = op.axis.value_or(0);
    if (axis >= 0 && axis < 3) axes |= 1U << axis;
  }
  return axes;
}

}  // namespace twill::run
