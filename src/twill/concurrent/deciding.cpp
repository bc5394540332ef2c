#include "twill/concurrent/deciding.h"

#include <vector>

#include "twill/concurrent/forms.h"
#include "twill/concurrent/guide.h"
#include "twill/ir/op_types.h"
#include "twill/ir/operands.h"

namespace twill::concurrent {
namespace {

using ir::OpKind;

/// Whether the type is a floating-point number, or has elements with such numbers.
bool has_floats(ir::Type type) {
  while (type->element != nullptr) type = type->element;
  return type->kind == ir::TypeKind::floating;
}

/// Whether the type is a floating-point number, or a tile of floating-point numbers.
bool holds_floats(ir::Type type) {
  const bool tile = type->kind == ir::TypeKind::tensor && type->element != nullptr;
  return ir::is_floating(tile ? type->element : type);
}

/// Whether the op may leave integers in memory, which another op loads.
bool leaves_integers(const ir::Program& program, const ir::Op& op) {
  const auto access = ir::memory_access(op);
  const bool fills = op.kind == OpKind::shared_alloc || (access && access->destination);
  const bool writes = ir::class_of(op.kind) == ir::OpClass::store || (access && access->writes);
  if (!fills && !writes) return false;
  const auto source = ir::operand_in(op, ir::Role::source);
  const auto from = source ? source : access ? access->destination : std::nullopt;
  return !from || !has_floats(ir::type_of(program, *from));
}

class Closure {
 public:
  explicit Closure(const ir::Program& program) : program_(program) {}

  void add(ir::ValueId value) {
    if (seen_.insert(value).second) todo_.push_back(value);
  }
  /// Adds the op, and all ops from which its operands are computed.
  void add_op(ir::OpId id) {
    if (!ops_.insert(id).second) return;
    for (const ir::ValueId operand : program_.op(id).operands) add(operand);
  }

  /// Follows the operands of all ops; false if a floating-point number decides.
  bool follow(const std::vector<ir::OpId>& all) {
    while (!todo_.empty()) {
      const ir::ValueId value = todo_.back();
      todo_.pop_back();
      if (holds_floats(ir::type_of(program_, value))) return false;
      const ir::Value& known = program_.value(value);
      if (known.op && !ir::is_loop(program_.op(*known.op).kind)) ops_.insert(*known.op);
      for (const ir::ValueId source : sources_of(program_, value)) add(source);
      if (known.op && reads_memory(*known.op) && !with_memory_) {
        with_memory_ = true;
        for (const ir::OpId id : all) {
          if (leaves_integers(program_, program_.op(id))) add_op(id);
        }
      }
    }
    return true;
  }
  std::set<ir::OpId> ops() && { return std::move(ops_); }

 private:
  bool reads_memory(ir::OpId id) const {
    const ir::Op& op = program_.op(id);
    const ir::OpClass of = ir::class_of(op.kind);
    return op.kind == OpKind::shared_load || of == ir::OpClass::load || of == ir::OpClass::update;
  }

  const ir::Program& program_;
  std::set<ir::ValueId> seen_;
  std::vector<ir::ValueId> todo_;
  std::set<ir::OpId> ops_;
  bool with_memory_ = false;
};

}  // namespace

std::vector<ir::ValueId> deciding_operands(const ir::Program& program, ir::OpId op,
                                           const Guide& guide) {
  const ir::Op& it = program.op(op);
  std::vector<ir::ValueId> found;
  const auto add = [&](std::span<const ir::ValueId> values) {
    found.insert(found.end(), values.begin(), values.end());
  };
  if (it.kind == OpKind::buffer_index && it.operands.size() > 1) {
    add(std::span(it.operands).subspan(1));
  }
  for (const ir::Role role : {ir::Role::phase, ir::Role::predicate, ir::Role::use_accumulator,
                              ir::Role::barrier_predicates}) {
    add(ir::operands_in(it, role));
  }
  const bool is_condition =
      it.kind == OpKind::jump_if || (it.kind == OpKind::branch && !guide.idle.contains(op)) ||
      (it.kind == OpKind::condition && !guide.idle.contains(op) && !guide.asked_ends.contains(op));
  if (is_condition && !it.operands.empty()) found.push_back(it.operands[0]);
  return found;
}

std::optional<std::set<ir::OpId>> deciding_ops(const ir::Program& program, ir::OpId function) {
  const auto all = ir::walk(program, function);
  Closure closure(program);
  for (const ir::OpId id : all) {
    for (const ir::ValueId value : deciding_operands(program, id, {})) closure.add(value);
    const auto loop = ir::as_loop(program, id);
    if (!loop || !loop->induction) continue;
    for (const ir::ValueId bound : {*loop->lower, *loop->upper, *loop->step}) closure.add(bound);
  }
  if (!closure.follow(all)) return std::nullopt;
  return std::move(closure).ops();
}

}  // namespace twill::concurrent
