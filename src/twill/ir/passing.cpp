#include "twill/ir/passing.h"

#include <algorithm>
#include <cstddef>

#include "twill/ir/loop.h"
#include "twill/ir/type.h"

namespace twill::ir {

std::vector<std::pair<ValueId, ValueId>> passed_on(const Program& program, OpId id) {
  std::vector<std::pair<ValueId, ValueId>> pairs;
  if (const auto loop = as_loop(program, id)) {
    for (const Carried& carried : loop->carried) {
      pairs.emplace_back(carried.init, carried.argument);
      pairs.emplace_back(carried.yielded, carried.argument);
      if (carried.result) pairs.emplace_back(carried.argument, *carried.result);
    }
    for (const Forwarded& it : loop->forwarded) {
      pairs.emplace_back(it.passed, it.argument);
      pairs.emplace_back(it.passed, it.result);
    }
  }
  const Op& op = program.op(id);
  for (const std::size_t side : {0U, 1U}) {
    const auto block = op.kind == OpKind::branch ? body(program, id, side) : std::nullopt;
    const auto end = block ? terminator(program, *block) : std::nullopt;
    for (std::size_t i = 0; end && i < op.results.size(); ++i) {
      pairs.emplace_back(program.op(*end).operands[i], op.results[i]);
    }
  }
  return pairs;
}

std::optional<ValueId> captured(const Program& program, ValueId value) {
  const Value& known = program.value(value);
  if (known.op) return std::nullopt;
  const OpId holder = program.region(program.block(*known.block).region).op;
  if (program.op(holder).kind != OpKind::warp_partitions) return std::nullopt;
  const auto outer = parent(program, holder);
  const Op& op = program.op(outer && program.op(holder).operands.empty() ? *outer : holder);
  if (known.index >= op.operands.size()) return std::nullopt;
  return op.operands[known.index];
}

std::set<ValueId> computed_of_tiles(const Program& program, OpId within) {
  std::set<ValueId> found;
  const std::vector<OpId> all = walk(program, within);
  const auto is_known = [&](ValueId value) { return found.contains(value); };
  bool changed = true;
  const auto enter = [&](ValueId value) { changed = found.insert(value).second || changed; };
  while (changed) {
    changed = false;
    for (const OpId id : all) {
      const Op& op = program.op(id);
      for (const auto& [from, to] : passed_on(program, id)) {
        if (is_known(from)) enter(to);
      }
      if (is_loop(op.kind)) continue;
      const OpClass of = class_of(op.kind);
      const bool begins = of == OpClass::load || of == OpClass::product;
      const bool reads = std::any_of(op.operands.begin(), op.operands.end(), is_known);
      for (const ValueId result : op.results) {
        const Type type = type_of(program, result);
        const bool tile = is_tensor(type) && !type->shape.empty();
        if (reads || (begins && tile)) enter(result);
      }
    }
  }
  return found;
}

}  // namespace twill::ir
