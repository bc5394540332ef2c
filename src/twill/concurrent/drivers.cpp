#include "twill/concurrent/drivers.h"

#include <algorithm>
#include <utility>

#include "twill/concurrent/assembly.h"
#include "twill/concurrent/forms.h"
#include "twill/ir/operands.h"

namespace twill::concurrent {
namespace {

using ir::OpKind;

/// Names of the function's arguments of that kind from which the values are computed.
std::set<std::string> arguments_of(const ir::Program& program, ir::OpId function, ir::TypeKind kind,
                                   std::vector<ir::ValueId> todo) {
  const auto arguments = ir::function_arguments(program, function);
  std::set<ir::ValueId> seen;
  std::set<std::string> names;
  while (!todo.empty()) {
    const ir::ValueId value = todo.back();
    todo.pop_back();
    if (!seen.insert(value).second) continue;
    const bool is_given = std::find(arguments.begin(), arguments.end(), value) != arguments.end();
    if (is_given && ir::type_of(program, value)->kind == kind) {
      names.insert(program.value(value).name);
    }
    add_sources(program, value, todo);
  }
  return names;
}

}  // namespace

std::set<std::string> counters_of(const ir::Program& program, ir::OpId function) {
  std::set<std::string> counters;
  for (const ir::OpId id : ir::walk(program, function)) {
    const ir::Op& op = program.op(id);
    const auto address = ir::operand_in(op, ir::Role::address);
    if (op.kind != OpKind::atomic_update || op.update != ir::Update::add || !address) continue;
    counters.merge(arguments_of(program, function, ir::TypeKind::pointer, {*address}));
  }
  return counters;
}

std::set<std::string> drivers_of(const ir::Program& program, ir::OpId function,
                                 std::vector<ir::ValueId> values) {
  return arguments_of(program, function, ir::TypeKind::integer, std::move(values));
}

bool waits_inside(const ir::Program& program, ir::OpId loop) {
  const auto ops = ir::walk(program, loop);
  return std::ranges::any_of(ops, [&](ir::OpId id) {
    const ir::Op& op = program.op(id);
    if (op.kind != OpKind::inline_asm) return op.kind == OpKind::barrier_wait;
    return std::ranges::any_of(read_assembly(op.symbol).steps, [](const AssemblyStep& step) {
      return step.kind == AssemblyStep::Kind::sync;
    });
  });
}

}  // namespace twill::concurrent
