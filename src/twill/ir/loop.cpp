#include "twill/ir/loop.h"

#include <algorithm>

namespace twill::ir {
namespace {

std::optional<Loop> as_for(const Program& program, OpId id) {
  const Op& op = program.op(id);
  const auto block = body(program, id);
  if (!block || op.operands.size() < 3) return std::nullopt;
  const auto last = terminator(program, *block);
  if (!last) return std::nullopt;
  const std::vector<ValueId>& arguments = program.block(*block).arguments;
  const std::vector<ValueId>& yielded = program.op(*last).operands;
  const std::size_t count = op.operands.size() - 3;
  if (arguments.size() != count + 1 || yielded.size() != count || op.results.size() != count) {
    return std::nullopt;
  }
  Loop loop;
  loop.op = id;
  loop.body = *block;
  loop.induction = arguments[0];
  loop.lower = op.operands[0];
  loop.upper = op.operands[1];
  loop.step = op.operands[2];
  for (std::size_t i = 0; i < count; ++i) {
    loop.carried.push_back({op.operands[3 + i], arguments[1 + i], yielded[i], op.results[i]});
  }
  return loop;
}

std::optional<Loop> as_while(const Program& program, OpId id) {
  const Op& op = program.op(id);
  const auto before = body(program, id, 0);
  const auto after = body(program, id, 1);
  if (!before || !after) return std::nullopt;
  const auto condition = terminator(program, *before);
  const auto yield = terminator(program, *after);
  if (!condition || !yield) return std::nullopt;
  const std::vector<ValueId>& entering = program.block(*before).arguments;
  const std::vector<ValueId>& passed = program.op(*condition).operands;  // the first is the i1
  const std::vector<ValueId>& arguments = program.block(*after).arguments;
  const std::vector<ValueId>& yielded = program.op(*yield).operands;
  const bool fits = entering.size() == op.operands.size() && yielded.size() == entering.size() &&
                    passed.size() == arguments.size() + 1 && op.results.size() == arguments.size();
  if (!fits) return std::nullopt;
  Loop loop;
  loop.op = id;
  loop.body = *after;
  loop.before = before;
  for (std::size_t i = 0; i < entering.size(); ++i) {
    loop.carried.push_back({op.operands[i], entering[i], yielded[i], std::nullopt});
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    loop.forwarded.push_back({passed[i + 1], arguments[i], op.results[i]});
  }
  return loop;
}

}  // namespace

namespace {

/// Sets the nesting of a loop: the loop around it, its depth, and whether it holds other loops.
void place(const Program& program, Loop& loop) {
  for (auto around = parent(program, loop.op); around; around = parent(program, *around)) {
    if (!is_loop(program.op(*around).kind)) continue;
    if (!loop.outer) loop.outer = *around;
    ++loop.depth;
  }
  for (const OpId inner : walk(program, loop.op)) {
    if (inner != loop.op && is_loop(program.op(inner).kind)) loop.innermost = false;
  }
}

}  // namespace

bool is_loop(OpKind kind) { return kind == OpKind::for_loop || kind == OpKind::while_loop; }

std::optional<Loop> as_loop(const Program& program, OpId op) {
  const OpKind kind = program.op(op).kind;
  if (!is_loop(kind)) return std::nullopt;
  auto loop = kind == OpKind::for_loop ? as_for(program, op) : as_while(program, op);
  if (loop) place(program, *loop);
  return loop;
}

std::vector<Loop> loops(const Program& program, OpId op) {
  std::vector<Loop> found;
  for (const OpId inner : walk(program, op)) {
    if (auto loop = as_loop(program, inner)) found.push_back(std::move(*loop));
  }
  return found;
}

std::optional<std::int64_t> constant_trip_count(const Program& program, const Loop& loop) {
  if (!loop.lower || !loop.upper || !loop.step) return std::nullopt;
  const auto lower = constant_integer(program, *loop.lower);
  const auto upper = constant_integer(program, *loop.upper);
  const auto step = constant_integer(program, *loop.step);
  if (!lower || !upper || !step || *step <= 0) return std::nullopt;
  if (*upper <= *lower) return 0;
  std::int64_t distance = 0;
  if (__builtin_sub_overflow(*upper, *lower, &distance)) return std::nullopt;
  return distance / *step + (distance % *step != 0 ? 1 : 0);
}

std::optional<Advance> advance_of(const Program& program, const Loop& loop, ValueId argument) {
  for (const Carried& carried : loop.carried) {
    if (carried.argument != argument) continue;
    const Op* op = defining_op(program, carried.yielded);
    const bool adds = op && (op->kind == OpKind::add || op->kind == OpKind::pointer_add);
    if (!adds || op->operands.size() != 2) return std::nullopt;
    for (const std::size_t side : {0U, 1U}) {
      const ValueId by = op->operands[1 - side];
      if (op->operands[side] == argument && is_invariant(program, loop, by)) {
        return Advance{carried.init, by};
      }
    }
  }
  return std::nullopt;
}

bool is_invariant(const Program& program, const Loop& loop, ValueId value) {
  const Value& v = program.value(value);
  const OpId definer = v.op ? *v.op : program.region(program.block(*v.block).region).op;
  if (definer == loop.op) return v.op.has_value();  // a result is outside, an argument inside
  return !is_inside(program, definer, loop.op);
}

}  // namespace twill::ir
