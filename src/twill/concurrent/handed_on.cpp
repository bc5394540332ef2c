#include <algorithm>
#include <set>

#include "twill/concurrent/forms.h"
#include "twill/concurrent/number.h"
#include "twill/ir/operands.h"
#include "twill/ir/passing.h"

namespace twill::concurrent {
namespace {

using ir::OpKind;

bool is_tile(const ir::Program& program, ir::ValueId value) {
  return ir::type_of(program, value)->kind == ir::TypeKind::tensor;
}

bool is_of_integers(ir::Type type) {
  const ir::Type element = type->kind == ir::TypeKind::tensor ? type->element : type;
  return element != nullptr && element->kind == ir::TypeKind::integer;
}

}  // namespace

bool reads_changing(const ir::Program& program, ir::ValueId value) {
  const ir::Op* const op = ir::defining_op(program, value);
  return op != nullptr &&
         (op->kind == OpKind::shared_load || ir::class_of(op->kind) == ir::OpClass::update);
}

HandedOn::HandedOn(const ir::Program& program, const std::vector<ir::OpId>& ops)
    : followed_(program.value_count(), false) {
  for (const ir::OpId id : ops) {
    for (const auto& [from, to] : ir::passed_on(program, id)) passed_[to].push_back(from);
    const ir::Op& op = program.op(id);
    if (op.kind != OpKind::shared_store && op.kind != OpKind::shared_alloc) continue;
    const auto source = ir::operand_in(op, ir::Role::source);
    if (source && is_of_integers(ir::type_of(program, *source))) stored_.push_back(*source);
  }
}

bool HandedOn::is_followed(ir::ValueId value) const {
  return in_memory_ && followed_[value.index()];
}

/// Values that equal this value in another block or in another form.
std::vector<ir::ValueId> HandedOn::becoming(const ir::Program& program, ir::ValueId value) const {
  if (const auto from = ir::captured(program, value)) return {*from};
  if (const auto found = passed_.find(value); found != passed_.end()) return found->second;
  const ir::Value& known = program.value(value);
  return known.op ? handed_on_by(program, *known.op) : std::vector<ir::ValueId>();
}

std::vector<ir::ValueId> HandedOn::follow(const ir::Program& program, ir::ValueId number) {
  std::vector<ir::ValueId> scalars;
  std::vector<ir::ValueId> todo = {number};
  while (!todo.empty()) {
    const ir::ValueId value = todo.back();
    todo.pop_back();
    if (!is_of_integers(ir::type_of(program, value)) || followed_[value.index()]) continue;
    followed_[value.index()] = true;
    if (!is_tile(program, value)) scalars.push_back(value);
    const auto from = becoming(program, value);
    todo.insert(todo.end(), from.begin(), from.end());
    const ir::Op* const op = ir::defining_op(program, value);
    if (op == nullptr || op->kind != OpKind::shared_load || in_memory_) continue;
    in_memory_ = true;
    todo.insert(todo.end(), stored_.begin(), stored_.end());
  }
  return scalars;
}

std::set<ir::ValueId> HandedOn::origins(const ir::Program& program, ir::ValueId value) const {
  return reached_from(value, [&](ir::ValueId next) { return becoming(program, next); });
}

void HandedOn::follow_all(const ir::Program& program, const std::vector<bool>& needed) {
  for (std::size_t i = 0; in_memory_ && i < needed.size(); ++i) {
    const ir::ValueId value(i);
    const bool scalar =
        needed[i] && !is_tile(program, value) && is_of_integers(ir::type_of(program, value));
    if (!scalar || followed_[i]) continue;
    followed_[i] = std::ranges::any_of(origins(program, value),
                                       [&](ir::ValueId it) { return reads_changing(program, it); });
  }
}

std::vector<ir::ValueId> HandedOn::drawn_behind(const ir::Program& program,
                                                ir::ValueId value) const {
  std::vector<ir::ValueId> found;
  if (!in_memory_) return found;
  std::set<ir::ValueId> seen;
  std::vector<ir::ValueId> todo = {value};
  while (!todo.empty()) {
    const ir::ValueId next = todo.back();
    todo.pop_back();
    if (!seen.insert(next).second || is_tile(program, next)) continue;
    if (is_followed(next)) {
      found.push_back(next);
      continue;
    }
    const ir::Value& known = program.value(next);
    const auto sources = sources_of(program, next);
    const bool computed = known.op && !ir::is_loop(program.op(*known.op).kind);
    if (computed || ir::captured(program, next)) {
      todo.insert(todo.end(), sources.begin(), sources.end());
    }
  }
  return found;
}

}  // namespace twill::concurrent
