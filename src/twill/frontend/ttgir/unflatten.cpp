#include "twill/frontend/ttgir/unflatten.h"

#include <algorithm>

#include "twill/frontend/ttgir/guard.h"
#include "twill/frontend/ttgir/nest.h"
#include "twill/frontend/ttgir/spelling.h"

namespace twill::frontend::ttgir {
namespace {

/// The scf.if around a flat loop that is taken if tiles have no step.
std::optional<ir::OpId> guard_of(const ir::Program& program, const FlatLoop& flat, Terms& terms) {
  const auto steps = unguarded_steps(program, flat);
  const auto around = parent(program, flat.loop.op);
  if (!steps || !around || program.op(*around).kind != ir::OpKind::branch) return std::nullopt;
  const ir::Op& guard = program.op(*around);
  const ir::Op* condition = defining_op(program, guard.operands[0]);
  const bool compares = condition != nullptr && condition->kind == ir::OpKind::icmp &&
                        condition->operands.size() == 2 &&
                        integer_attribute(*condition, "predicate") == 0;
  const bool stands_otherwise = ir::body(program, *around, 1) == program.op(flat.loop.op).block;
  if (!compares || !stands_otherwise) return std::nullopt;
  const bool is_zero = constant_integer(program, condition->operands[1]) == 0;
  const Terms::Term compared = terms.of(condition->operands[0]);
  const bool same =
      compared == terms.of(*steps) || compared == terms.of(without_extension(program, *steps));
  return is_zero && same ? around : std::nullopt;
}

/// The first loop at the line of a flat one that is in another: its steps.
std::optional<ir::OpId> steps_at(const ir::Program& program, const ir::Op& flat) {
  for (const ir::Loop& loop : loops(program, program.module())) {
    const ir::Op& op = program.op(loop.op);
    const auto outer = loop.outer ? &program.op(*loop.outer) : nullptr;
    const bool here = op.line == flat.line && op.column == flat.column;
    if (here && outer != nullptr && outer->line == op.line && outer->column == op.column) {
      return loop.op;
    }
  }
  return std::nullopt;
}

std::optional<ir::Program> with_loop_unflattened(const ir::Program& program, const ir::Loop& loop) {
  Terms terms(program);
  const auto flat = as_flat_loop(program, loop, terms);
  if (!flat) return std::nullopt;
  const auto guard = guard_of(program, *flat, terms);
  const auto plan = plan_nest(program, *flat, guard.has_value(), terms);
  auto nest = plan ? with_nest(program, *plan, terms) : std::nullopt;
  if (!nest || !guard) return nest;
  const auto inner = steps_at(*nest, program.op(loop.op));
  const auto around = inner ? enclosing(*nest, *inner, ir::OpKind::branch) : std::nullopt;
  return around ? without_guard(*nest, *around, *inner) : std::nullopt;
}

/// The first loop that is flat, with its nest, and the line where it stood.
std::optional<Unflattened> with_first_unflattened(const ir::Program& program) {
  for (const ir::Loop& loop : loops(program, program.module())) {
    auto made = with_loop_unflattened(program, loop);
    if (made) return Unflattened{*std::move(made), {program.op(loop.op).line}};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Unflattened> unflatten(const ir::Program& program) {
  auto found = with_first_unflattened(program);
  while (found) {
    auto next = with_first_unflattened(found->program);
    if (!next) break;
    found->program = std::move(next->program);
    found->lines.push_back(next->lines.front());
  }
  return found;
}

}  // namespace twill::frontend::ttgir
