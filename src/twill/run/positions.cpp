#include "twill/run/positions.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "twill/ir/loop.h"
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
    : parent_(program.value_count()) {
  std::iota(parent_.begin(), parent_.end(), 0U);
  const auto varies = [&](ir::ValueId value) {
    const auto& op = program.value(value).op;
    return guide.needed[value.index()] && (!op || program.op(*op).kind != OpKind::constant);
  };
  const auto unite_if_needed = [&](ir::ValueId a, ir::ValueId b) {
    if (varies(a) && varies(b)) unite(a, b);
  };
  std::vector<ir::ValueId> iterations;
  for (const ir::OpId id : ir::walk(program, function)) {
    const ir::Op& op = program.op(id);
    for (const auto& [from, to] : ir::passed_on(program, id)) unite_if_needed(from, to);
    if (const auto loop = ir::as_loop(program, id)) {
      for (const ir::Forwarded& forwarded : loop->forwarded) {
        unite_if_needed(forwarded.passed, forwarded.argument);
        unite_if_needed(forwarded.passed, forwarded.result);
      }
      if (loop->induction) iterations.push_back(*loop->induction);
      continue;
    }
    if (op.kind == OpKind::branch) {
      const ir::ValueId condition = op.operands[0];
      const auto& by = program.value(condition).op;
      if (by && guide.conditions.contains(*by)) continue;  // of trip counts alone
      for (const ir::OpId inner : ir::walk(program, id)) {
        for (const ir::ValueId value : program.op(inner).operands)
          unite_if_needed(condition, value);
        for (const ir::ValueId value : program.op(inner).results) unite_if_needed(condition, value);
      }
      continue;
    }
    for (const ir::ValueId result : op.results) {
      for (const ir::ValueId operand : op.operands) unite_if_needed(operand, result);
    }
  }
  for (const ir::ValueId iteration : iterations) counting_.insert(group_of(iteration.index()));
}

std::size_t Positions::group_of(std::size_t value) const {
  while (parent_[value] != value) value = parent_[value];
  return value;
}

void Positions::unite(ir::ValueId a, ir::ValueId b) {
  parent_[group_of(a.index())] = group_of(b.index());
}

bool Positions::repeat(const std::vector<ir::ValueId>& carried, const Rounds& rounds,
                       std::size_t longest) const {
  std::map<std::size_t, std::vector<std::size_t>> columns;
  for (std::size_t i = 0; i < carried.size(); ++i) {
    columns[group_of(carried[i].index())].push_back(i);
  }
  return std::all_of(columns.begin(), columns.end(), [&](const auto& group) {
    if (counting_.contains(group.first)) return false;
    if (rounds.size() <= longest) return true;
    for (std::size_t period = 1; period <= longest; ++period) {
      if (repeats_after(rounds, group.second, period)) return true;
    }
    return false;
  });
}

}  // namespace twill::run
