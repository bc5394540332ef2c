#include "twill/concurrent/number.h"

#include <algorithm>
#include <set>

#include "twill/concurrent/machine.h"
#include "twill/ir/operands.h"

namespace twill::concurrent {
namespace {

using ir::OpKind;

bool is_one_integer(ir::Type type) {
  const ir::Type element = type->kind == ir::TypeKind::tensor ? type->element : type;
  return element->kind == ir::TypeKind::integer && ir::element_count(type) == 1;
}

/// Whether an op in the block of a reduction computes of elements only.
bool reads_elements(const ir::Program& program, ir::OpId inner, ir::OpId reduction) {
  return std::ranges::all_of(program.op(inner).operands, [&](ir::ValueId operand) {
    const ir::Value& known = program.value(operand);
    const ir::OpId at =
        known.op ? *known.op : program.region(program.block(*known.block).region).op;
    return ir::is_inside(program, at, reduction);
  });
}

/// Whether a reduction of equal numbers gives the same number.
bool keeps_equal(const ir::Program& program, ir::OpId id) {
  const ir::Op& op = program.op(id);
  if (op.operands.size() != 1) return false;
  if (ir::element_count(ir::type_of(program, op.operands[0])) == 1) return true;
  return std::ranges::all_of(ir::walk(program, id), [&](ir::OpId inner) {
    if (inner != id && !reads_elements(program, inner, id)) return false;
    switch (program.op(inner).kind) {
      case OpKind::smax:
      case OpKind::smin:
      case OpKind::umax:
      case OpKind::umin:
      case OpKind::bit_and:
      case OpKind::bit_or:
      case OpKind::combined:
        return true;
      default:
        return inner == id;
    }
  });
}

}  // namespace

std::vector<ir::ValueId> handed_on_by(const ir::Program& program, ir::OpId id) {
  const ir::Op& op = program.op(id);
  switch (op.kind) {
    case OpKind::splat:
    case OpKind::unsplat:
    case OpKind::broadcast:
    case OpKind::expand_dims:
    case OpKind::reshape:
    case OpKind::relayout:
      return {op.operands[0]};
    case OpKind::reduce:
      return keeps_equal(program, id) ? std::vector{op.operands[0]} : std::vector<ir::ValueId>();
    case OpKind::select:
      return {op.operands[1], op.operands[2]};
    default:
      return {};
  }
}

std::vector<ir::ValueId> put_into_tile(const ir::Program& program, ir::OpId id) {
  const ir::Op& op = program.op(id);
  if (op.results.empty() || !ir::is_tensor(ir::type_of(program, op.results[0]))) return {};
  std::vector<ir::ValueId> scalars = handed_on_by(program, id);
  std::erase_if(scalars,
                [&](ir::ValueId value) { return ir::is_tensor(ir::type_of(program, value)); });
  return scalars;
}

std::optional<Number> Machine::number_in(const Role& role, ir::ValueId value) const {
  const auto found = role.numbers.find(value);
  if (found != role.numbers.end()) return found->second;
  const auto* tile = std::get_if<execute::TilePtr>(&role.values.value(value));
  if (tile == nullptr || (*tile)->is_floating() || (*tile)->size() != 1) {
    const auto constant = ir::constant_integer(program_, value);
    return constant ? std::optional(Number{std::nullopt, *constant}) : std::nullopt;
  }
  return Number{std::nullopt, (*tile)->integers()[0]};
}

/// Draws a new number, whose value is unknown. `counted`: the number is at least 0.
Number Machine::draw_number(bool counted) {
  const Guide& guide = *options_.guide;
  const std::size_t draw = next_draw_++;
  const auto number = static_cast<std::int64_t>(draw);
  const Scope scope = std::pair(kDrawn, number);
  if (counted) assume(number_of(guide.drawn_form, 0, scope), -1, true);
  for (const auto& [loop, least] : guide.going_on) {
    if (number < guide.at_least) assume(number_of(least.first, 0, scope), least.second, true);
  }
  return {draw, 0};
}

/// Notes the number of an op's result that the run did not compute.
void Machine::follow_number(Role& role, ir::OpId id) {
  const ir::Op& op = program_.op(id);
  if (op.results.size() != 1) return;
  const ir::ValueId result = op.results[0];
  role.numbers.erase(result);
  if (!options_.guide->handed_on.is_followed(result)) return;
  if (const auto constant = ir::constant_integer(program_, result)) {
    role.numbers[result] = {std::nullopt, *constant};
    return;
  }
  auto from = handed_on_by(program_, id);
  if (op.kind == OpKind::select) {
    const auto first = number_in(role, op.operands[0]);
    if (!first || first->draw) return;
    from = {op.operands[first->known != 0 ? 1 : 2]};
  }
  if (from.empty() && is_one_integer(ir::type_of(program_, result))) {
    const bool adds = op.update == ir::Update::add && op.operands.size() > 1;
    const auto added = adds ? known_integer(program_, op.operands[1]) : std::nullopt;
    role.numbers[result] = draw_number(added.value_or(0) > 0);
  }
  if (from.empty()) return;
  const auto number = number_in(role, from[0]);
  if (!number) return;
  role.numbers[result] = *number;
  const bool scalar = ir::type_of(program_, result)->kind != ir::TypeKind::tensor;
  if (scalar && !number->draw) {
    role.values.set(result, std::make_shared<const execute::Tile>(
                                execute::Tile{{}, execute::Integers{number->known}}));
  }
}

void Machine::follow_load(Role& role, ir::ValueId result, const execute::View& view) const {
  role.numbers.erase(result);
  if (!options_.guide->handed_on.is_followed(result)) return;
  if (const auto number = ledger_.number_in(view)) role.numbers[result] = *number;
}

/// The number in a stored tile; a new draw for a single element of unknown value.
std::optional<Number> Machine::stored_number(const Role& role, ir::ValueId value) {
  if (options_.guide == nullptr || !options_.guide->handed_on.is_followed(value)) {
    return std::nullopt;
  }
  const auto number = number_in(role, value);
  if (number) return number;
  if (!is_one_integer(ir::type_of(program_, value))) return std::nullopt;
  return draw_number(false);
}

/// Draws that a role holds, or may still read.
std::set<std::size_t> Machine::draws_in_use() const {
  std::set<std::size_t> draws;
  for (const Role& role : roles_) {
    for (const auto& [value, number] : role.numbers) {
      if (number.draw) draws.insert(*number.draw);
    }
  }
  ledger_.add_draws(draws);
  return draws;
}

}  // namespace twill::concurrent
