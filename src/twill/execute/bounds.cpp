#include "twill/execute/bounds.h"

#include <algorithm>
#include <optional>

#include "twill/ir/loop.h"

namespace twill::execute {
namespace {

using ir::OpKind;

/// Adds the direct sources of a value; for an argument of a block, the values that enter it.
void add_sources(const ir::Program& program, ir::ValueId value, std::vector<ir::ValueId>& todo) {
  const auto& known = program.value(value);
  const ir::OpId op = known.op ? *known.op : program.region(program.block(*known.block).region).op;
  if (!known.op && program.op(op).kind == OpKind::function) return;
  for (const ir::OpId inner : ir::walk(program, op)) {
    const auto& operands = program.op(inner).operands;
    todo.insert(todo.end(), operands.begin(), operands.end());
    // An argument of a block depends on the op's own operands. A result also depends on the
    // operands of all ops inside.
    if (!known.op && inner == op) break;
  }
  if (known.op) return;
  const auto loop = ir::as_loop(program, op);
  if (!loop) return;
  for (const ir::Carried& carried : loop->carried) {
    if (carried.argument == value) todo.push_back(carried.yielded);
  }
  for (const ir::Forwarded& forwarded : loop->forwarded) {
    if (forwarded.argument == value) todo.push_back(forwarded.passed);
  }
}

/// The loop that has `value` as its induction variable.
std::optional<ir::Loop> counted_by(const ir::Program& program, ir::ValueId value) {
  const auto& known = program.value(value);
  if (known.op) return std::nullopt;
  auto loop = ir::as_loop(program, program.region(program.block(*known.block).region).op);
  return loop && loop->induction == value ? loop : std::nullopt;
}

std::set<ir::ValueId> all_behind(const ir::Program& program, std::vector<ir::ValueId> todo,
                                 bool counts = true) {
  std::set<ir::ValueId> seen;
  while (!todo.empty()) {
    const ir::ValueId value = todo.back();
    todo.pop_back();
    if (!seen.insert(value).second) continue;
    const auto loop = counts ? std::nullopt : counted_by(program, value);
    if (loop) {
      todo.insert(todo.end(), {*loop->lower, *loop->step});
    } else {
      add_sources(program, value, todo);
    }
  }
  return seen;
}

bool is_of_integers(ir::Type type, int least_bits) {
  return type->kind == ir::TypeKind::pointer && type->element != nullptr &&
         type->element->kind == ir::TypeKind::integer && type->element->bits >= least_bits;
}

/// Increase of a bound that gives one more iteration: the loop's step, or the divisor of its
/// bounds.
std::int64_t of_an_iteration(const ir::Program& program, const ir::Loop& loop,
                             const std::set<ir::ValueId>& behind) {
  std::int64_t most = ir::constant_integer(program, *loop.step).value_or(1);
  for (const ir::ValueId value : behind) {
    const ir::Op* op = ir::defining_op(program, value);
    const bool divides = op != nullptr && op->operands.size() == 2 &&
                         (op->kind == OpKind::sdiv || op->kind == OpKind::udiv ||
                          op->kind == OpKind::sdiv_up || op->kind == OpKind::udiv_up);
    if (!divides) continue;
    most = std::max(most, ir::constant_integer(program, op->operands[1]).value_or(1));
  }
  return std::clamp<std::int64_t>(most, 1, 4096);
}

/// The first of `count` numbers around the constant of a comparison, such that both sides are
/// taken. nullopt for two numbers where no constant is compared.
std::optional<std::int64_t> first_around(const ir::Program& program, const ir::Op& compare,
                                         std::int64_t count) {
  enum : std::int64_t { slt = 2, sle, sgt, sge, ult, ule, ugt, uge };
  const std::int64_t how = compare.predicate.value_or(0);
  const auto right = ir::constant_integer(program, compare.operands[1]);
  const auto left = ir::constant_integer(program, compare.operands[0]);
  if (count == 2 && !left && !right) return std::nullopt;
  const std::int64_t with = right.value_or(left.value_or(0));
  const bool on_left = left && !right;
  const bool tells_next = on_left ? how == slt || how == sge || how == ult || how == uge
                                  : how == sle || how == sgt || how == ule || how == ugt;
  return count == 2 && tells_next ? with : with - 1;
}

}  // namespace

std::set<ir::ValueId> arguments_behind(const ir::Program& program, ir::OpId function,
                                       const std::vector<ir::ValueId>& values, bool counts) {
  const std::set<ir::ValueId> behind = all_behind(program, values, counts);
  std::set<ir::ValueId> found;
  for (const ir::ValueId argument : ir::function_arguments(program, function)) {
    if (behind.contains(argument)) found.insert(argument);
  }
  return found;
}

void fill_bounds(const ir::Program& program, ir::OpId id, std::int64_t times, Launch& launch) {
  const auto loop = ir::as_loop(program, id);
  const auto function = ir::enclosing(program, id, OpKind::function);
  if (!loop || !loop->lower || !loop->upper || !loop->step || !function) return;
  const std::vector<ir::ValueId> bounds = {*loop->lower, *loop->upper};
  const std::int64_t all = of_an_iteration(program, *loop, all_behind(program, bounds));
  // Leaves out a quarter of the last iteration's elements, if an iteration has several.
  Values values;
  values.kind = Values::Kind::growing;
  values.first = static_cast<double>(times * all - all / 4);
  for (const ir::ValueId argument : arguments_behind(program, *function, bounds)) {
    if (!is_of_integers(ir::type_of(program, argument), 16)) continue;
    launch.arrays.try_emplace(program.value(argument).name, values);
  }
}

void fill_outer(const ir::Program& program, ir::OpId id, std::int64_t count, Launch& launch) {
  const auto inner = ir::as_loop(program, id);
  const auto function = ir::enclosing(program, id, OpKind::function);
  if (!inner || !inner->upper || !function) return;
  const auto own = arguments_behind(program, *function, {*inner->lower, *inner->upper}, false);
  const auto arguments = ir::function_arguments(program, *function);
  for (const ir::Loop& loop : ir::loops(program, *function)) {
    if (loop.op == id || !loop.upper || !loop.step) continue;
    const auto inside = ir::walk(program, loop.op);
    const auto counted = std::find(arguments.begin(), arguments.end(), *loop.upper);
    const auto step = ir::constant_integer(program, *loop.step);
    const bool is_around = std::find(inside.begin(), inside.end(), id) != inside.end();
    const bool from_zero = ir::constant_integer(program, *loop.lower) == 0;
    if (!is_around || !from_zero || counted == arguments.end() || !step || *step <= 0) continue;
    if (own.contains(*counted)) continue;
    const auto number = static_cast<std::size_t>(counted - arguments.begin());
    const std::int64_t divisor = ir::argument_divisor(program, *function, number).value_or(1);
    const std::int64_t value = (count * *step + divisor - 1) / divisor * divisor;
    launch.arguments.try_emplace(program.value(*counted).name, static_cast<double>(value));
  }
}

void fill_conditions(const ir::Program& program, ir::OpId id, std::int64_t count, Launch& launch) {
  const auto function = ir::enclosing(program, id, OpKind::function);
  if (!function) return;
  for (const ir::OpId inner : ir::walk(program, id)) {
    const ir::Op& op = program.op(inner);
    const bool decides = op.kind == OpKind::branch || op.kind == OpKind::condition;
    if (!decides || op.operands.empty()) continue;
    std::optional<std::int64_t> first = -1;
    const ir::Op* compare = ir::defining_op(program, op.operands[0]);
    if (compare != nullptr && compare->kind == OpKind::icmp && compare->operands.size() == 2) {
      first = first_around(program, *compare, count);
    }
    if (!first) continue;
    Values values;
    values.kind = Values::Kind::integers;
    values.first = static_cast<double>(*first);
    values.second = static_cast<double>(*first + count);
    for (const ir::ValueId argument : arguments_behind(program, *function, {op.operands[0]})) {
      if (!is_of_integers(ir::type_of(program, argument), 8)) continue;
      launch.arrays.try_emplace(program.value(argument).name, values);
    }
  }
}

}  // namespace twill::execute
