#include <span>

#include "twill/ir/loop.h"
#include "twill/ir/op_types.h"

/// Types of the values that loops and branches take, carry and return.
namespace twill::ir {
namespace {

using Values = std::span<const ValueId>;

/// Compares pairs of both lists, up to the end of the shorter list. Another check compares their
/// lengths.
MaybeMisfit each(const OpTypes& types, Values values, Values like) {
  for (std::size_t i = 0; i < values.size() && i < like.size(); ++i) {
    if (auto wrong = types.same(values[i], types.type(like[i]))) return wrong;
  }
  return {};
}

Values arguments_of(const OpTypes& types, OpId op, std::size_t region) {
  const auto block = body(types.program(), op, region);
  return block ? Values(types.program().block(*block).arguments) : Values();
}

MaybeMisfit counting(const OpTypes& types) {
  const Op& op = types.op();
  const Values arguments = arguments_of(types, types.id(), 0);
  if (op.operands.size() < 3 || arguments.empty()) return {};
  for (std::size_t i = 0; i < 3; ++i) {
    if (auto wrong = types.same(op.operands[i], types.type(arguments[0]))) return wrong;
  }
  const auto step = constant_integer(types.program(), op.operands[2]);
  if (step && *step <= 0) {
    return types.bad(" goes on by " + std::to_string(*step) + ": a loop counts up");
  }
  const Values inits = Values(op.operands).subspan(3);
  if (auto wrong = each(types, inits, op.results)) return wrong;
  return each(types, arguments.subspan(1), op.results);
}

MaybeMisfit waiting(const OpTypes& types) {
  if (auto wrong = each(types, types.op().operands, arguments_of(types, types.id(), 0))) {
    return wrong;
  }
  return each(types, arguments_of(types, types.id(), 1), types.op().results);
}

/// Finds a misfit in the values that the end of a region yields.
MaybeMisfit yielded(const OpTypes& types) {
  const auto around = parent(types.program(), types.id());
  if (!around) return {};
  const Op& holder = types.program().op(*around);
  if (holder.kind == OpKind::while_loop) {
    return each(types, types.op().operands, arguments_of(types, *around, 0));
  }
  const bool hands_on = holder.kind == OpKind::for_loop || holder.kind == OpKind::branch;
  return hands_on ? each(types, types.op().operands, holder.results) : MaybeMisfit();
}

MaybeMisfit passed(const OpTypes& types) {
  const auto around = parent(types.program(), types.id());
  if (!around || types.op().operands.empty()) return {};
  const ValueId condition = types.op().operands[0];
  if (is_known(types.type(condition)) && types.type(condition)->name != "i1") {
    return types.wrong(condition, "i1 is wanted");
  }
  return each(types, Values(types.op().operands).subspan(1), arguments_of(types, *around, 1));
}

MaybeMisfit branching(const OpTypes& types) {
  if (types.op().operands.size() != 1) return {};
  const Type condition = types.operand(0);
  if (!is_known(condition) || condition->name == "i1") return {};
  return types.wrong(types.op().operands[0], "i1 is wanted");
}

}  // namespace

MaybeMisfit control_misfit(const OpTypes& types) {
  switch (types.op().kind) {
    case OpKind::for_loop:
      return counting(types);
    case OpKind::while_loop:
      return waiting(types);
    case OpKind::branch:
      return branching(types);
    case OpKind::yield:
      return yielded(types);
    case OpKind::condition:
      return passed(types);
    default:
      return {};
  }
}

MaybeMisfit count_misfit(const OpTypes& types) {
  constexpr std::int64_t kMost = (std::int64_t{1} << 20) - 1;  // PTX ISA, mbarrier
  const Op& op = types.op();
  const bool arrives = op.kind == OpKind::barrier_init || op.kind == OpKind::barrier_arrive;
  const bool of_barrier = arrives || op.kind == OpKind::barrier_expect;
  const bool waits = op.kind == OpKind::wgmma_wait || op.kind == OpKind::block_store_wait ||
                     op.kind == OpKind::copy_wait;
  const std::int64_t least = arrives ? 1 : 0;
  if (!op.count || (!of_barrier && !waits)) return {};
  if (*op.count >= least && (waits || *op.count <= kMost)) return {};
  return types.bad(" has the number " + std::to_string(*op.count) + ", and the least is " +
                   std::to_string(least) +
                   (of_barrier ? ", the most " + std::to_string(kMost) : ""));
}

}  // namespace twill::ir
