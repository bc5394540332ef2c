#include "twill/run/drivers.h"

#include "twill/execute/bounds.h"
#include "twill/ir/loop.h"
#include "twill/ir/program.h"

namespace twill::run {
namespace {

/// The integer arguments from which any of `values` is computed.
std::set<std::string> integers_behind(const Kernel& kernel,
                                      const std::vector<ir::ValueId>& values) {
  const ir::Program& program = kernel.planned;
  const auto function = ir::enclosing(program, kernel.loop, ir::OpKind::function);
  std::set<std::string> names;
  for (const ir::ValueId argument : execute::arguments_behind(program, *function, values, false)) {
    if (ir::type_of(program, argument)->kind == ir::TypeKind::integer) {
      names.insert(program.value(argument).name);
    }
  }
  return names;
}

}  // namespace

Drivers drivers_of(const Kernel& kernel) {
  const auto loop = ir::as_loop(kernel.planned, kernel.loop);
  if (!loop || !loop->lower || !loop->upper || !loop->step) return {};
  Drivers drivers;
  drivers.bounds = integers_behind(kernel, {*loop->lower, *loop->upper});
  for (const std::string& name : integers_behind(kernel, {*loop->step})) {
    if (!drivers.bounds.contains(name)) drivers.steps.insert(name);
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
