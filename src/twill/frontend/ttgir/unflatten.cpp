#include "twill/frontend/ttgir/unflatten.h"

#include <algorithm>

#include "twill/frontend/ttgir/guard.h"
#include "twill/frontend/ttgir/nest.h"
#include "twill/frontend/ttgir/spelling.h"

namespace twill::frontend::ttgir {
namespace {

/// The scf.if around a flat loop that tests whether tiles have steps.
struct Guard {
  ir::OpId op;
  std::size_t without_steps = 0;  ///< region for tiles without steps
};

/// Numbers of MLIR's predicates of integers.
enum Predicate : std::int64_t { eq, ne, slt, sle, sgt, sge };

/// The predicate that holds exactly where `predicate` does not.
std::int64_t negated(std::int64_t predicate) {
  constexpr std::int64_t kNegated[] = {ne, eq, sge, sgt, sle, slt};
  return kNegated[predicate];
}

/// Whether a comparison means that a tile has no steps: `steps <= 0` or `upper <= lower` of the
/// loop over the steps (Triton 3.9), or `steps == 0` (Triton 3.6).
bool says_no_steps(const ir::Program& program, std::int64_t predicate, ir::ValueId left,
                   ir::ValueId right, ir::ValueId steps, Terms& terms) {
  if (predicate == sge || predicate == sgt) {
    std::swap(left, right);
    predicate = predicate == sge ? sle : slt;
  }
  const ir::ValueId narrow = without_extension(program, steps);
  const auto counts = [&](ir::ValueId value) {
    return terms.of(value) == terms.of(steps) || terms.of(value) == terms.of(narrow);
  };
  const auto bound = constant_integer(program, right);
  if (predicate == eq) return bound == 0 && counts(left);
  if (predicate == slt) return bound == 1 && counts(left);
  if (predicate != sle) return false;
  if (bound == 0 && counts(left)) return true;
  const ir::Op* made = defining_op(program, narrow);
  const bool rounds = made != nullptr && made->kind == ir::OpKind::sdiv_up;
  const ir::ValueId distance = rounds ? made->operands[0] : narrow;
  if (bound == 0 && terms.of(left) == terms.of(distance)) return true;
  const ir::Type type = type_of(program, distance);
  return type_of(program, left) == type &&
         terms.of(distance) == terms.minus(terms.of(left), terms.of(right), type);
}

std::optional<Guard> guard_of(const ir::Program& program, const FlatLoop& flat, Terms& terms) {
  const auto steps = unguarded_steps(program, flat);
  const auto around = parent(program, flat.loop.op);
  if (!steps || !around || program.op(*around).kind != ir::OpKind::branch) return std::nullopt;
  const ir::Op* condition = defining_op(program, program.op(*around).operands[0]);
  const bool compares = condition != nullptr && condition->kind == ir::OpKind::icmp &&
                        condition->operands.size() == 2;
  const auto predicate = compares ? integer_attribute(*condition, "predicate") : std::nullopt;
  if (!predicate || *predicate < eq || *predicate > sge) return std::nullopt;
  for (const std::size_t without : {0U, 1U}) {
    const std::int64_t holds = without == 0 ? *predicate : negated(*predicate);
    const bool stands_there =
        ir::body(program, *around, 1 - without) == program.op(flat.loop.op).block;
    if (stands_there && says_no_steps(program, holds, condition->operands[0],
                                      condition->operands[1], *steps, terms)) {
      return Guard{*around, without};
    }
  }
  return std::nullopt;
}

/// The first inner loop at the line of a flat loop: its steps.
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
  return around ? without_guard(*nest, *around, guard->without_steps, *inner) : std::nullopt;
}

/// Restores the nest of the first flat loop; returns the Program with the loop's line.
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
