#include "twill/run/positions.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "twill/concurrent/forms.h"
#include "twill/ir/loop.h"
#include "twill/ir/op_types.h"
#include "twill/ir/passing.h"

namespace twill::run {
namespace {

using ir::OpKind;

/// Whether the rounds are the same `period` iterations later, as far as `columns` go.
bool repeats_after(const Rounds& rounds, const std::vector<std::size_t>& columns,
                   std::size_t period) {
  for (std::size_t i = period; i < rounds.size(); ++i) {
    for (const std::size_t column : columns) {
      if (rounds[i][column] != rounds[i - period][column]) return false;
    }
  }
  return true;
}

}  // namespace

Positions::Positions(const ir::Program& program, ir::OpId function, const concurrent::Guide& guide)
    : program_(program), guide_(guide), parent_(program.value_count()) {
  std::iota(parent_.begin(), parent_.end(), 0U);
  const std::vector<ir::OpId> ops = ir::walk(program, function);
  for (const ir::OpId id : ops) {
    const ir::Op& op = program.op(id);
    for (const auto& [from, to] : ir::passed_on(program, id)) unite(from, to);
    if (const auto loop = ir::as_loop(program, id)) {
      if (loop->induction) iterations_.push_back(*loop->induction);
      for (const ir::Carried& it : loop->carried) carried_.push_back(it.argument);
    } else if (op.kind != OpKind::branch) {
      for (const ir::ValueId result : op.results) {
        for (const ir::ValueId operand : op.operands) unite(operand, result);
        if (!is_of_integers(op) && !is_view(result)) others_.push_back(result);
      }
    }
  }
  while (unite_decided(ops)) {
  }
  endless_ = groups_of(iterations_);
  endless_.merge(groups_of(others_));
}

/// Whether all operands are integers. Integers of tiles and of memory are followed no further.
bool Positions::is_of_integers(const ir::Op& op) const {
  return std::all_of(op.operands.begin(), op.operands.end(), [&](ir::ValueId operand) {
    return ir::is_whole(ir::type_of(program_, operand));
  });
}

bool Positions::is_view(ir::ValueId value) const {
  return ir::type_of(program_, value)->kind == ir::TypeKind::memdesc;
}

bool Positions::unite_decided(const std::vector<ir::OpId>& ops) {
  bool united = false;
  const std::set<std::size_t> carried = groups_of(carried_), counting = groups_of(iterations_);
  for (const ir::OpId id : ops) {
    for (const ir::ValueId by : deciding(id)) {
      if (!varies(by)) continue;
      const std::size_t group = group_of(by.index());
      if (!carried.contains(group) && (!counting.contains(group) || compares_trips(by))) continue;
      for (const ir::OpId inner : ir::walk(program_, id)) {
        for (const ir::ValueId value : program_.op(inner).operands) united |= unite(by, value);
        for (const ir::ValueId value : program_.op(inner).results) united |= unite(by, value);
      }
    }
  }
  return united;
}

std::vector<ir::ValueId> Positions::deciding(ir::OpId id) const {
  const ir::Op& op = program_.op(id);
  if (op.kind == OpKind::branch) return {op.operands[0]};
  const auto loop = ir::as_loop(program_, id);
  return loop ? concurrent::end_of(program_, *loop) : std::vector<ir::ValueId>();
}

bool Positions::compares_trips(ir::ValueId value) const {
  const auto& by = program_.value(value).op;
  if (!by || program_.op(*by).kind != OpKind::icmp) return false;
  std::set<std::size_t> moving = groups_of(carried_);
  moving.merge(groups_of(others_));
  const auto& operands = program_.op(*by).operands;
  return std::all_of(operands.begin(), operands.end(), [&](ir::ValueId operand) {
    const bool is_iteration = std::ranges::find(iterations_, operand) != iterations_.end();
    return is_iteration || !varies(operand) || !moving.contains(group_of(operand.index()));
  });
}

bool Positions::varies(ir::ValueId value) const {
  const auto& by = program_.value(value).op;
  if (ir::is_whole(ir::type_of(program_, value)))
    return !by || program_.op(*by).kind != OpKind::constant;
  if (!is_view(value)) return false;
  if (!by) return !ir::captured(program_, value);
  const ir::Op& op = program_.op(*by);
  if (ir::class_of(op.kind) == ir::OpClass::structure) return true;
  return std::any_of(op.operands.begin(), op.operands.end(),
                     [&](ir::ValueId operand) { return varies(operand); });
}

std::set<std::size_t> Positions::groups_of(const std::vector<ir::ValueId>& values) const {
  std::set<std::size_t> groups;
  for (const ir::ValueId value : values) groups.insert(group_of(value.index()));
  return groups;
}

std::size_t Positions::group_of(std::size_t value) const {
  while (parent_[value] != value) value = parent_[value];
  return value;
}

bool Positions::unite(ir::ValueId a, ir::ValueId b) {
  if (!varies(a) || !varies(b) || group_of(a.index()) == group_of(b.index())) return false;
  parent_[group_of(a.index())] = group_of(b.index());
  return true;
}

bool Positions::decide_apart(std::int64_t most) const {
  for (const auto& [op, condition] : guide_.conditions) {
    if (compares_trips(program_.op(op).results[0]) && condition.threshold >= most) return false;
  }
  return std::all_of(guide_.decides.begin(), guide_.decides.end(), [&](const auto& it) {
    return std::none_of(it.second.begin(), it.second.end(), [&](ir::ValueId value) {
      return varies(value) && endless_.contains(group_of(value.index())) && !compares_trips(value);
    });
  });
}

bool Positions::repeat(const std::vector<ir::ValueId>& carried, const Rounds& rounds,
                       std::size_t longest) const {
  std::map<std::size_t, std::vector<std::size_t>> columns;
  for (std::size_t i = 0; i < carried.size(); ++i) {
    columns[group_of(carried[i].index())].push_back(i);
  }
  return std::all_of(columns.begin(), columns.end(), [&](const auto& group) {
    if (endless_.contains(group.first)) return false;
    if (rounds.size() <= longest) return true;
    for (std::size_t period = 1; period <= longest; ++period) {
      if (repeats_after(rounds, group.second, period)) return true;
    }
    return false;
  });
}

}  // namespace twill::run
