#include "twill/emit/cuda/registers.h"

#include <algorithm>

#include <fmt/format.h>

namespace twill::emit::cuda {

std::string copy_name(const Variable& variable, int back) {
  return back == 0 ? variable.name : fmt::format("{}_{}", variable.name, back);
}

std::int64_t array_length(const Variable& variable) {
  return elements_per_thread(variable.shape) / (variable.packed ? 2 : 1);
}

bool is_read_elsewhere(const View& view, OpId op, ir::ValueId value) {
  const auto& sources = view.origin(op).sources;
  const auto is_own = [&](ir::OpId user) {
    return std::any_of(sources.begin(), sources.end(),
                       [&](const extract::Source& source) { return source.op == user; });
  };
  for (const ir::Use& use : view.program().value(value).uses) {
    const ir::Op& user = view.program().op(use.op);
    if (is_view(user.kind)) {
      if (is_read_elsewhere(view, op, user.results[0])) return true;
      continue;
    }
    const ir::OpId parent = ir::parent(view.program(), use.op).value_or(use.op);
    if (!is_own(use.op) && !is_own(parent)) return true;
  }
  return false;
}

std::vector<ir::ValueId> kept_results(const View& view, OpId op) {
  std::vector<ir::ValueId> kept;
  for (const extract::Source& source : view.origin(op).sources) {
    const ir::Op& from = view.program().op(source.op);
    if (is_view(from.kind) || source.absorbed) continue;
    for (const ir::ValueId result : from.results) {
      if (!is_register_tile(ir::type_of(view.program(), result))) continue;
      // A reduction is not computed element by element.
      const bool reduced = from.kind == ir::OpKind::reduce;
      if (reduced || is_read_elsewhere(view, op, result)) kept.push_back(result);
    }
  }
  return kept;
}

Result<Registers> Registers::of(const View& view, plan::RoleId role) {
  Registers registers;
  std::map<std::pair<plan::BufferId, std::size_t>, std::size_t> of_buffer;
  const plan::Plan& plan = view.plan();
  for (std::size_t v = 0; v < plan.values.size(); ++v) {
    const OpId op(v);
    const auto home = plan.values[v].home;
    if (!home || plan[*home].role != role) continue;
    const plan::Buffer& buffer = plan[*home];
    const int part = view.origin(op).part;
    registers.part_[op] = part;
    std::vector<ir::ValueId>& made = registers.made_[op];
    made = kept_results(view, op);
    for (std::size_t i = 0; i < made.size(); ++i) {
      // The op is named after its last result.
      const std::size_t place = made.size() - 1 - i;
      TWILL_TRY(const Shape shape, view.shape_of(made[i], part));
      const ir::Type type = ir::type_of(view.program(), made[i]);
      Variable variable{identifier(buffer.name),
                        shape,
                        cpp_type(type),
                        is_packed(type) && shape.kind == Shape::Kind::matrix,
                        buffer.depth,
                        op};
      if (place > 0) variable.name += fmt::format("_{}", view.program().value(made[i]).name);
      if (variable.type.empty()) return view.refuse(made[i], "has elements CUDA has no type for");
      const auto [known, fresh] =
          of_buffer.try_emplace({*home, place}, registers.variables_.size());
      if (fresh) registers.variables_.push_back(variable);
      Variable& shared = registers.variables_[known->second];
      if (shared.shape != variable.shape || shared.type != variable.type) {
        return view.refuse(made[i], "shares its registers with a tile of another shape");
      }
      registers.of_value_[{made[i], part}] = known->second;
    }
  }
  return registers;
}

const Variable* Registers::find(ir::ValueId value, int part) const {
  for (const int its : {part, -1}) {
    const auto found = of_value_.find({value, its});
    if (found != of_value_.end()) return &variables_[found->second];
  }
  return nullptr;
}

std::vector<Registers::Made> Registers::made_by(OpId op) const {
  std::vector<Made> made;
  const auto found = made_.find(op);
  if (found == made_.end()) return made;
  for (const ir::ValueId value : found->second) {
    made.push_back({value, find(value, part_.at(op))});
  }
  return made;
}

std::vector<int> Registers::parts() const {
  std::vector<int> parts;
  for (const auto& [op, part] : part_) {
    if (part >= 0) parts.push_back(part);
  }
  if (parts.empty() && !part_.empty()) parts.push_back(-1);
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return parts;
}

void Registers::declare(Text& text) const {
  for (const Variable& variable : variables_) {
    std::string names;
    for (int back = 0; back < variable.depth; ++back) {
      names += fmt::format("{}{}[{}]", back == 0 ? "" : ", ", copy_name(variable, back),
                           array_length(variable));
    }
    text.line(fmt::format("{} {};", variable.packed ? "uint32_t" : variable.type, names));
  }
}

}  // namespace twill::emit::cuda
