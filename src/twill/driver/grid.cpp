#include "twill/driver/grid.h"

#include <algorithm>
#include <set>

#include "twill/ir/loop.h"
#include "twill/ir/operands.h"
#include "twill/ir/type.h"

namespace twill::driver {
namespace {

using ir::OpKind;

constexpr Axes kX = 1;
constexpr Axes kY = 2;
constexpr Axes kAll = 7;

/// Follows values back to the program ids from which they are computed.
class Slice {
 public:
  explicit Slice(const ir::Program& program) : program_(program) {}

  Axes of(ir::ValueId value) {
    std::vector<ir::ValueId> todo = {value};
    Axes axes = 0;
    while (!todo.empty()) {
      const ir::ValueId at = todo.back();
      todo.pop_back();
      if (!seen_.insert(at).second) continue;
      axes |= program_.value(at).op ? through_op(*program_.value(at).op, todo)
                                    : through_argument(at, todo);
    }
    return axes;
  }

 private:
  Axes through_op(ir::OpId id, std::vector<ir::ValueId>& todo) const {
    const ir::Op& op = program_.op(id);
    if (op.kind == OpKind::program_id) {
      const auto axis = op.axis;
      return axis && *axis >= 0 && *axis < 3 ? 1U << *axis : kAll;
    }
    // A value in memory may come from any tile.
    if (const auto access = ir::memory_access(op); access && access->reads) return kAll;
    todo.insert(todo.end(), op.operands.begin(), op.operands.end());
    for (const ir::OpId inner : ir::walk(program_, id)) {
      if (inner == id) continue;
      const ir::Op& inside = program_.op(inner);
      const auto access = ir::memory_access(inside);
      if (inside.kind == OpKind::program_id || (access && access->reads)) return kAll;
      todo.insert(todo.end(), inside.operands.begin(), inside.operands.end());
    }
    return 0;
  }

  /// Program ids from which an argument is computed. A loop's argument depends on the loop's start,
  /// carried values, and bounds; a function's argument on no program id.
  Axes through_argument(ir::ValueId argument, std::vector<ir::ValueId>& todo) const {
    const ir::RegionId region = program_.block(*program_.value(argument).block).region;
    const ir::OpId holder = program_.region(region).op;
    if (program_.op(holder).kind == OpKind::function) return 0;
    const auto loop = ir::as_loop(program_, holder);
    if (!loop) return kAll;
    for (const auto& bound : {loop->lower, loop->upper, loop->step}) {
      if (bound) todo.push_back(*bound);
    }
    if (loop->induction == argument) return 0;
    for (const ir::Carried& carried : loop->carried) {
      if (carried.argument != argument) continue;
      todo.push_back(carried.init);
      todo.push_back(carried.yielded);
      return 0;
    }
    return kAll;
  }

  const ir::Program& program_;
  std::set<ir::ValueId> seen_;
};

/// A load: its bytes, and the ids on which its address depends.
struct Load {
  Axes axes = 0;
  std::int64_t bytes = 0;
};

std::vector<Load> loads_of(const Kernel& kernel) {
  const ir::Program& program = kernel.program;
  std::vector<Load> loads;
  for (const ir::OpId id : ir::walk(program, kernel.choice.loop)) {
    const auto access = ir::memory_access(program.op(id));
    if (!access || access->space != ir::AccessSpace::global || !access->reads) continue;
    const auto tile = access->result ? access->result : access->destination;
    if (!tile) continue;
    Load load;
    const ir::Type type = ir::type_of(program, *tile);
    load.bytes = ir::element_count(type) * ir::element_bits(type) / 8;
    load.axes = axes_of(program, access->address);
    for (const ir::ValueId coordinate : access->coordinates) {
      load.axes |= axes_of(program, coordinate);
    }
    loads.push_back(load);
  }
  return loads;
}

}  // namespace

Axes axes_of(const ir::Program& program, ir::ValueId value) { return Slice(program).of(value); }

std::optional<Diagnostic> objection_to_walking(const Kernel& kernel) {
  const ir::Program& program = kernel.program;
  const auto because = [&](ir::OpId op, const std::string& why) {
    return Diagnostic{ir::text_location(program, op), program.op(op).name + " " + why, "", ""};
  };
  const auto loop = ir::as_loop(program, kernel.choice.loop);
  if (!loop) return because(kernel.choice.loop, "is no loop that is counted");
  if (loop->outer) return because(*loop->outer, "is a loop around the main loop");
  const auto function = ir::enclosing(program, kernel.choice.loop, OpKind::function);
  if (!function) return because(kernel.choice.loop, "is in no function");
  bool asks = false;
  for (const ir::OpId id : ir::walk(program, *function)) {
    const OpKind kind = program.op(id).kind;
    asks = asks || kind == OpKind::program_id;
    if (kind == OpKind::program_count) return because(id, "asks for the grid's size");
    const bool unknown =
        kind == OpKind::call || kind == OpKind::inline_asm || kind == OpKind::other;
    if (unknown) return because(id, "may read the CTA's place in the grid");
  }
  if (!asks) return because(*function, "asks for no program id: every CTA does the same");
  return std::nullopt;
}

bool same_trips(const Kernel& kernel) {
  const ir::Program& program = kernel.program;
  const auto loop = ir::as_loop(program, kernel.choice.loop);
  if (!loop || !loop->lower || !loop->upper || !loop->step) return false;
  auto outer = loop->outer ? ir::as_loop(program, *loop->outer) : std::nullopt;
  if (loop->outer && !outer) return false;
  while (outer && outer->outer) outer = ir::as_loop(program, *outer->outer);
  const auto fixed = [&](ir::ValueId bound) {
    return outer ? ir::is_invariant(program, *outer, bound) : axes_of(program, bound) == 0;
  };
  return fixed(*loop->lower) && fixed(*loop->upper) && fixed(*loop->step);
}

void choose_order(plan::Kernel& what, const Kernel& kernel) {
  std::int64_t x = 0;
  std::int64_t y = 0;
  for (const Load& load : loads_of(kernel)) {
    if ((load.axes & kX) != 0 && (load.axes & kY) == 0) x += load.bytes;
    if ((load.axes & kY) != 0 && (load.axes & kX) == 0) y += load.bytes;
  }
  if (x == 0 || y == 0) return;
  what.order = plan::TileOrder::grouped;
  const auto cores = static_cast<std::int64_t>(kernel.machine->sm_count.value);
  const auto traffic = [&](std::int64_t group) {
    return group * x + (cores + group - 1) / group * y;
  };
  what.group = traffic(16) < traffic(8) ? 16 : 8;
}

}  // namespace twill::driver
