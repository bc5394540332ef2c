#include "twill/run/precision.h"

#include <algorithm>

#include "twill/execute/rounding.h"
#include "twill/ir/arrays.h"
#include "twill/ir/loop.h"
#include "twill/ir/operands.h"
#include "twill/ir/views.h"

namespace twill::run {
namespace {

using ir::OpKind;

/// Whether the printed kernel may round the op's numbers in another way than the text.
bool rounds_otherwise(const ir::Op& op) {
  switch (op.kind) {
    case OpKind::reduce:
    case OpKind::atomic_update:
    case OpKind::block_update:
    case OpKind::fdiv:
    case OpKind::exp:
    case OpKind::exp2:
    case OpKind::log:
    case OpKind::log2:
    case OpKind::sin:
    case OpKind::cos:
    case OpKind::library_call:
      return true;
    default:
      return false;
  }
}

/// Type of the numbers in a tile, in memory, or behind a pointer.
const ir::TypeNode* innermost(ir::Type type) {
  while (type->element != nullptr) type = type->element;
  return type;
}

class Precisions {
 public:
  explicit Precisions(const Kernel& kernel) : program_(kernel.text) {
    const std::vector<ir::OpId> ops = ir::walk(program_, kernel.function);
    for (bool changed = true; changed;) {
      changed_ = false;
      for (const ir::OpId id : ops) visit(id);
      changed = changed_;
    }
  }

  std::map<std::string, int> of_arrays() const {
    std::map<std::string, int> all;
    for (const auto& [array, precision] : arrays_) all[program_.value(array).name] = precision;
    return all;
  }

 private:
  int of(ir::ValueId value) const {
    const auto found = values_.find(value);
    return found == values_.end() ? kExact : found->second;
  }

  void lower(ir::ValueId value, int precision) {
    if (precision >= of(value)) return;
    values_[value] = precision;
    changed_ = true;
  }

  /// Notes the precision of a value. Numbers of a lower precision are rounded to the value's type.
  void give(ir::ValueId value, int precision) {
    if (precision == kExact) return;
    const ir::TypeNode* type = innermost(ir::type_of(program_, value));
    if (type->kind == ir::TypeKind::floating) {
      const auto format = execute::format_of(type);
      if (format) precision = std::min(precision, format->mantissa);
    }
    lower(value, precision);
  }

  void visit(ir::OpId id) {
    const ir::Op& op = program_.op(id);
    if (ir::is_loop(op.kind)) return visit_loop(id);
    if (op.kind == OpKind::branch) return visit_branch(id);
    int precision = rounds_otherwise(op) && makes_numbers(op) ? execute::Format().mantissa : kExact;
    for (const ir::ValueId operand : op.operands) precision = std::min(precision, of(operand));
    if (const auto access = ir::memory_access(op)) precision = visit_access(*access, precision);
    if (const auto product = ir::mma_operands(op); product && !product->result) {
      give(ir::behind_views(program_, product->accumulator), precision);
    }
    for (const ir::ValueId result : op.results) give(result, precision);
  }

  bool makes_numbers(const ir::Op& op) const {
    const auto floats = [&](ir::ValueId value) {
      return innermost(ir::type_of(program_, value))->kind == ir::TypeKind::floating;
    };
    return std::any_of(op.operands.begin(), op.operands.end(), floats) ||
           std::any_of(op.results.begin(), op.results.end(), floats);
  }

  /// Notes an access. A write lowers the precision of its place; a read gives that precision to the
  /// result.
  int visit_access(const ir::MemoryAccess& access, int precision) {
    const bool global = access.space == ir::AccessSpace::global;
    const auto place = global ? ir::array_of(program_, access.address)
                              : std::optional(ir::behind_views(program_, access.address));
    if (access.writes && global) note_written(place, precision);
    if (access.writes && !global) give(*place, precision);
    if (!access.reads && !access.destination) return precision;
    if (global) {
      const auto known = place ? arrays_.find(*place) : arrays_.end();
      if (known != arrays_.end()) precision = std::min(precision, known->second);
    } else {
      precision = std::min(precision, of(*place));
    }
    if (access.destination) give(ir::behind_views(program_, *access.destination), precision);
    return precision;
  }

  /// Notes a write. A write through an address of unknown origin may change any array.
  void note_written(std::optional<ir::ValueId> array, int precision) {
    if (!array) {
      for (auto& [known, lowest] : arrays_) lower_array(lowest, precision);
      everywhere_ = std::min(everywhere_, precision);
      return;
    }
    const auto [place, fresh] = arrays_.try_emplace(*array, std::min(precision, everywhere_));
    changed_ = changed_ || fresh;
    lower_array(place->second, precision);
  }

  void lower_array(int& lowest, int precision) {
    if (precision >= lowest) return;
    lowest = precision;
    changed_ = true;
  }

  void visit_loop(ir::OpId id) {
    const auto loop = ir::as_loop(program_, id);
    if (!loop) return;
    for (const ir::Carried& carried : loop->carried) {
      give(carried.argument, std::min(of(carried.init), of(carried.yielded)));
      if (carried.result) give(*carried.result, of(carried.argument));
    }
    for (const ir::Forwarded& forwarded : loop->forwarded) {
      give(forwarded.argument, of(forwarded.passed));
      give(forwarded.result, of(forwarded.passed));
    }
  }

  void visit_branch(ir::OpId id) {
    const ir::Op& op = program_.op(id);
    const int condition = op.operands.empty() ? kExact : of(op.operands[0]);
    for (const std::size_t side : {0U, 1U}) {
      const auto block = ir::body(program_, id, side);
      const auto end = block ? ir::terminator(program_, *block) : std::nullopt;
      if (!end) continue;
      const auto& yielded = program_.op(*end).operands;
      for (std::size_t i = 0; i < op.results.size() && i < yielded.size(); ++i) {
        give(op.results[i], std::min(condition, of(yielded[i])));
      }
    }
  }

  const ir::Program& program_;
  std::map<ir::ValueId, int> values_;
  std::map<ir::ValueId, int> arrays_;  ///< precision by argument
  int everywhere_ = kExact;
  bool changed_ = false;
};

}  // namespace

std::map<std::string, int> precisions(const Kernel& kernel) {
  return Precisions(kernel).of_arrays();
}

}  // namespace twill::run
