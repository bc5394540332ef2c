#include "twill/extract/copied.h"

#include <algorithm>

#include "twill/ir/operands.h"

namespace twill::extract {

using ir::OpKind;

std::optional<ir::ValueId> loaded_by(const ir::Program& program, const OpOrigin& origin) {
  if (origin.forwards) return std::nullopt;
  std::optional<ir::ValueId> loaded;
  std::int64_t most = -1;
  for (const Source& source : origin.sources) {
    const ir::Op& op = program.op(source.op);
    if (op.kind != OpKind::load && op.kind != OpKind::block_load) continue;
    for (const ir::ValueId result : op.results) {
      const std::int64_t size = ir::byte_size(ir::type_of(program, result));
      if (size <= most) continue;
      most = size;
      loaded = result;
    }
  }
  return loaded;
}

std::vector<ir::OpId> allocations_of(const ir::Program& program, ir::ValueId value) {
  std::vector<ir::OpId> found;
  for (const ir::Use& use : program.value(value).uses) {
    const ir::Op& user = program.op(use.op);
    if (user.kind == OpKind::shared_alloc) found.push_back(use.op);
    if (user.kind != OpKind::relayout) continue;
    const auto behind = allocations_of(program, user.results.front());
    found.insert(found.end(), behind.begin(), behind.end());
  }
  return found;
}

std::optional<ir::Attribute> layout_in_memory(const ir::Program& program, ir::OpId load) {
  const ir::Op& op = program.op(load);
  ir::Attribute layout = nullptr;
  bool is_put = false;
  for (const ir::OpId allocation : allocations_of(program, op.results.front())) {
    const ir::Attribute its =
        ir::type_of(program, program.op(allocation).results.front())->encoding;
    if (is_put && its != layout) return std::nullopt;
    layout = its;
    is_put = true;
  }
  const auto access = ir::memory_access(op);
  if (is_put || !access || !access->by_descriptor) return layout;
  const ir::Type descriptor = ir::type_of(program, access->address);
  return descriptor->element ? descriptor->element->encoding : nullptr;
}

std::set<ir::ValueId> made_in(const ir::Program& program, const ir::Loop& loop,
                              std::vector<ir::ValueId> values, const std::set<ir::ValueId>& given) {
  const std::vector<ir::OpId> all = ir::walk(program, loop.op);
  const std::set<ir::OpId> inside(all.begin() + 1, all.end());
  std::set<ir::ValueId> found;
  while (!values.empty()) {
    const ir::ValueId value = values.back();
    values.pop_back();
    if (!found.insert(value).second) continue;
    for (const ir::Carried& carried : loop.carried) {
      if (carried.argument == value) values.push_back(carried.yielded);
    }
    const auto by = program.value(value).op;
    if (!by || !inside.contains(*by) || given.contains(value)) continue;
    for (const ir::OpId inner : ir::walk(program, *by)) {
      const auto& operands = program.op(inner).operands;
      values.insert(values.end(), operands.begin(), operands.end());
    }
  }
  return found;
}

}  // namespace twill::extract
