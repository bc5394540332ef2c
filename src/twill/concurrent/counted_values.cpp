#include "twill/concurrent/counted_values.h"

#include <algorithm>
#include <numeric>

#include "twill/execute/evaluate.h"
#include "twill/ir/passing.h"

namespace twill::concurrent {
namespace {

using ir::OpKind;
using Kind = CountedValue::Kind;

bool adds(OpKind kind) {
  return kind == OpKind::add || kind == OpKind::sub || kind == OpKind::sext ||
         kind == OpKind::zext || kind == OpKind::index_cast;
}

}  // namespace

CountedValues::CountedValues(const ir::Program& program, const Guide& guide)
    : program_(program), guide_(guide) {
  for (std::size_t shift = 0; shift < guide.shifts.size(); ++shift) {
    for (const ir::ValueId counter : guide.shifts[shift].counters) shift_of_[counter] = shift;
  }
}

std::optional<std::size_t> CountedValues::shift_of(ir::ValueId counter) const {
  const auto found = shift_of_.find(counter);
  return found == shift_of_.end() ? std::nullopt : std::optional(found->second);
}

const CountedValue& CountedValues::of(ir::ValueId value) {
  if (const auto found = known_.find(value); found != known_.end()) return found->second;
  CountedValue made = compute(value);
  return known_[value] = std::move(made);
}

/// Values that loops and blocks pass on count as `same`: the passing is checked elsewhere.
CountedValue CountedValues::compute(ir::ValueId value) {
  if (!guide_.needed[value.index()]) return {};
  if (const auto number = shift_of(value)) {
    const Shift& shift = guide_.shifts[*number];
    std::vector<std::int64_t> table(static_cast<std::size_t>(2 * shift.period));
    std::iota(table.begin(), table.end(), shift.least);
    return {Kind::counter, value, std::move(table)};
  }
  if (const auto from = ir::captured(program_, value)) return of(*from);
  const ir::Op* op = ir::defining_op(program_, value);
  if (op == nullptr || ir::class_of(op->kind) == ir::OpClass::structure) return {};
  return of_op(value, *op);
}

CountedValue CountedValues::of_op(ir::ValueId value, const ir::Op& op) {
  std::optional<ir::ValueId> root;
  bool all_known = true;
  for (const ir::ValueId operand : op.operands) {
    const CountedValue& source = of(operand);
    if (source.kind == Kind::mixed) return source;
    if (source.kind == Kind::same) {
      all_known = all_known && known_integer(program_, operand).has_value();
      continue;
    }
    if (root && *root != source.root) return {Kind::mixed, *root, {}};
    root = source.root;
    all_known = all_known && !source.table.empty();
  }
  if (!root) return {};
  const Shift& shift = guide_.shifts[*shift_of(*root)];
  const auto by = shift.by.find(value);
  const bool counts = by != shift.by.end() && by->second == shift.period && adds(op.kind) &&
                      is_wide(ir::type_of(program_, value));
  std::vector<std::int64_t> table;
  if (all_known) table = table_of(value, op, static_cast<std::size_t>(2 * shift.period));
  const Kind kind = counts ? Kind::counter : table.empty() ? Kind::mixed : Kind::computed;
  return {kind, *root, std::move(table)};
}

/// The op's result for each number of the counter; empty where a result cannot be computed.
std::vector<std::int64_t> CountedValues::table_of(ir::ValueId value, const ir::Op& op,
                                                  std::size_t size) {
  if (!execute::can_evaluate(op.kind)) return {};
  std::vector<std::int64_t> table;
  const ir::OpId id = *program_.value(value).op;
  for (std::size_t i = 0; i < size; ++i) {
    std::vector<execute::TilePtr> operands;
    for (const ir::ValueId operand : op.operands) {
      const CountedValue& source = of(operand);
      const std::int64_t number = source.kind == Kind::same ? constant(operand) : source.table[i];
      operands.push_back(
          std::make_shared<const execute::Tile>(execute::Tile{{}, execute::Integers{number}}));
    }
    const auto tile = execute::evaluate(program_, id, operands, {});
    if (!tile || tile->is_floating() || tile->size() != 1) return {};
    table.push_back(tile->integers()[0]);
  }
  return table;
}

/// Precondition: the value is a constant.
std::int64_t CountedValues::constant(ir::ValueId value) const {
  const std::int64_t number = *known_integer(program_, value);
  return ir::type_of(program_, value)->bits == 1 ? number & 1 : number;
}

std::optional<ir::OpId> allocation_of(const ir::Program& program, ir::ValueId value) {
  while (const auto from = ir::captured(program, value)) value = *from;
  const ir::Value& known = program.value(value);
  if (!known.op) return std::nullopt;
  const OpKind kind = program.op(*known.op).kind;
  const bool allocates = kind == OpKind::shared_alloc || kind == OpKind::tensor_alloc;
  return allocates ? known.op : std::nullopt;
}

std::optional<RingPlace> place_of(const ir::Program& program, ir::ValueId view) {
  if (const auto ring = allocation_of(program, view)) return RingPlace{*ring, std::nullopt};
  while (const auto from = ir::captured(program, view)) view = *from;
  const ir::Op* op = ir::defining_op(program, view);
  if (op == nullptr || op->kind != OpKind::buffer_index || op->operands.size() < 2) return {};
  const auto ring = allocation_of(program, op->operands[0]);
  if (!ring) return std::nullopt;
  return RingPlace{*ring, op->operands[1]};
}

std::int64_t slots_of(const ir::Program& program, ir::OpId ring) {
  const auto& shape = ir::type_of(program, program.op(ring).results[0])->shape;
  return shape.empty() ? 1 : std::max<std::int64_t>(shape[0], 1);
}

}  // namespace twill::concurrent
