#include "twill/emit/cuda/orders.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "twill/extract/memory_order.h"
#include "twill/ir/effects.h"
#include "twill/ir/operands.h"
#include "twill/ir/source_words.h"

namespace twill::emit::cuda {
namespace {

enum class Phase { before, loop, behind };

/// Compares values by their computation. Each pair is compared once.
class Sameness {
 public:
  explicit Sameness(const View& view) : view_(view) {}

  /// Whether two accesses touch the same places, element by element.
  bool touch_the_same(const ir::MemoryAccess& a, const ir::MemoryAccess& b) {
    return is_same(a.address, b.address) && !a.rows && !b.rows &&
           are_same(a.coordinates, b.coordinates);
  }

 private:
  using Values = std::span<const ir::ValueId>;

  bool are_same(Values a, Values b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](ir::ValueId x, ir::ValueId y) { return is_same(x, y); });
  }

  /// Whether two values are computed in the same way from the same values. Layouts do not matter.
  bool is_same(ir::ValueId a, ir::ValueId b) {
    a = view_.behind_views(a);
    b = view_.behind_views(b);
    if (a == b) return true;
    const auto known = known_.find({a, b});
    if (known != known_.end()) return known->second;
    const bool same = are_alike(a, b);
    return known_[{a, b}] = same;
  }

  bool are_alike(ir::ValueId a, ir::ValueId b) {
    const ir::Program& program = view_.program();
    const ir::Value &one = program.value(a), &other = program.value(b);
    if (!one.op || !other.op || one.index != other.index) return false;
    const ir::Op &first = program.op(*one.op), &second = program.op(*other.op);
    return first.name == second.name && first.regions.empty() && ir::is_pure(program, *one.op) &&
           first.attributes == second.attributes && are_same(first.operands, second.operands);
  }

  const View& view_;
  std::map<std::pair<ir::ValueId, ir::ValueId>, bool> known_;
};

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
  Sameness sameness(view);
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
          sameness.touch_the_same(it.access, *access)) {
        continue;
      }
      auto refusal =
          view.refuse(op, "may touch the same memory as " + ir::op_words(program, it.op) +
                              ", from other threads, between which there is no order");
      refusal.value().hint = "give the kernel an argument for each, if they never meet";
      return refusal;
    }
    seen.push_back({op, *access, phase});
  }
  return {};
}

}  // namespace twill::emit::cuda
