#include "twill/emit/cuda/orders.h"

#include <algorithm>
#include <vector>

#include "twill/extract/memory_order.h"
#include "twill/ir/operands.h"
#include "twill/ir/source_words.h"

namespace twill::emit::cuda {
namespace {

enum class Phase { before, loop, behind };

/// Whether two values are computed alike from the same values. Layouts do not matter.
bool is_same(const View& view, ir::ValueId a, ir::ValueId b) {
  const ir::Program& program = view.program();
  a = view.behind_views(a);
  b = view.behind_views(b);
  if (a == b) return true;
  const ir::Op* const one = ir::defining_op(program, a);
  const ir::Op* const other = ir::defining_op(program, b);
  if (one == nullptr || other == nullptr || one->name != other->name) return false;
  const bool pure = one->regions.empty() && !ir::memory_access(*one);
  if (!pure || one->attributes != other->attributes) return false;
  return std::equal(one->operands.begin(), one->operands.end(), other->operands.begin(),
                    other->operands.end(),
                    [&](ir::ValueId x, ir::ValueId y) { return is_same(view, x, y); });
}

bool touch_the_same(const View& view, const ir::MemoryAccess& a, const ir::MemoryAccess& b) {
  return is_same(view, a.address, b.address) && !a.rows && !b.rows &&
         std::equal(a.coordinates.begin(), a.coordinates.end(), b.coordinates.begin(),
                    b.coordinates.end(),
                    [&](ir::ValueId x, ir::ValueId y) { return is_same(view, x, y); });
}

}  // namespace

Result<void> check_orders(const View& view) {
  const ir::Program& program = view.program();
  const ir::OpId loop = view.loop().op;
  const auto function = ir::enclosing(program, loop, ir::OpKind::function);
  struct Seen {
    ir::OpId op;
    ir::MemoryAccess access;
    Phase phase;
  };
  std::vector<Seen> seen;
  for (const ir::OpId op : ir::walk(program, function.value_or(program.module()))) {
    const auto access = ir::memory_access(program.op(op));
    if (!access || access->space != ir::AccessSpace::global) continue;
    const Phase phase = ir::is_inside(program, op, loop) ? Phase::loop
                        : op < loop                      ? Phase::before
                                                         : Phase::behind;
    for (const Seen& it : seen) {
      const bool both_write = it.access.writes && access->writes;
      if (it.phase == phase && (phase == Phase::loop || both_write)) continue;
      if (!extract::conflict(program, it.op, op) ||
          !extract::share_array(program, it.access.address, access->address) ||
          touch_the_same(view, it.access, *access)) {
        continue;
      }
      auto refusal = view.refuse(op, "may touch what " + ir::op_words(program, it.op) +
                                         " touches, by other threads, which keep no order there");
      refusal.value().hint = "give the kernel an argument for each, if they never meet";
      return refusal;
    }
    seen.push_back({op, *access, phase});
  }
  return {};
}

}  // namespace twill::emit::cuda
