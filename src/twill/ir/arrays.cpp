#include "twill/ir/arrays.h"

#include <algorithm>
#include <set>
#include <vector>

#include "twill/ir/loop.h"
#include "twill/ir/operands.h"
#include "twill/ir/passing.h"

namespace twill::ir {
namespace {

/// Collects the arguments of functions that an address may come from.
class Origins {
 public:
  explicit Origins(const Program& program) : program_(program) {}

  std::optional<ValueId> of(ValueId address) {
    open_ = {address};
    while (!open_.empty() && !unknown_) {
      const ValueId value = open_.back();
      open_.pop_back();
      if (seen_.insert(value).second) follow(value);
    }
    if (unknown_ || arguments_.size() != 1) return std::nullopt;
    return *arguments_.begin();
  }

 private:
  void follow(ValueId value) {
    const Value& it = program_.value(value);
    if (it.block) return follow_argument(value, program_.region(program_.block(*it.block).region));
    const Op& op = program_.op(*it.op);
    switch (op.kind) {
      case OpKind::pointer_add:
      case OpKind::pointer_advance:
      case OpKind::make_descriptor:
      case OpKind::splat:
      case OpKind::unsplat:
      case OpKind::bitcast:
        return open(op, 0);
      case OpKind::select:
        open(op, 1);
        return open(op, 2);
      case OpKind::branch:
        return follow_yields(op, it.index);
      case OpKind::for_loop:
      case OpKind::while_loop:
        return follow_result(*it.op, value);
      default:
        if (class_of(op.kind) == OpClass::view) return open(op, 0);
        unknown_ = true;
    }
  }

  void open(const Op& op, std::size_t operand) {
    if (operand < op.operands.size()) {
      open_.push_back(op.operands[operand]);
    } else {
      unknown_ = true;
    }
  }

  void follow_argument(ValueId value, const Region& region) {
    if (program_.op(region.op).kind == OpKind::function) {
      const auto entry = function_arguments(program_, region.op);
      if (std::find(entry.begin(), entry.end(), value) == entry.end()) {
        unknown_ = true;
      } else {
        arguments_.insert(value);
      }
      return;
    }
    const auto loop = as_loop(program_, region.op);
    if (!loop) {
      unknown_ = true;
      return;
    }
    for (const Carried& carried : loop->carried) {
      if (carried.argument != value) continue;
      open_.push_back(carried.init);
      open_.push_back(carried.yielded);
      return;
    }
    for (const Forwarded& forwarded : loop->forwarded) {
      if (forwarded.argument != value) continue;
      open_.push_back(forwarded.passed);
      return;
    }
    unknown_ = true;
  }

  void follow_result(OpId id, ValueId value) {
    const auto loop = as_loop(program_, id);
    if (loop) {
      for (const Carried& carried : loop->carried) {
        if (carried.result != value) continue;
        open_.push_back(carried.init);
        open_.push_back(carried.yielded);
        return;
      }
      for (const Forwarded& forwarded : loop->forwarded) {
        if (forwarded.result != value) continue;
        open_.push_back(forwarded.passed);
        return;
      }
    }
    unknown_ = true;
  }

  void follow_yields(const Op& op, std::size_t index) {
    for (const RegionId region : op.regions) {
      for (const BlockId block : program_.region(region).blocks) {
        const auto end = terminator(program_, block);
        if (end && program_.op(*end).kind == OpKind::yield) {
          open(program_.op(*end), index);
        } else {
          unknown_ = true;
        }
      }
    }
  }

  const Program& program_;
  std::vector<ValueId> open_;
  std::set<ValueId> seen_, arguments_;
  bool unknown_ = false;
};

/// Whether the result points into the same array as the first operand.
bool is_of_pointer(OpKind kind) {
  return kind == OpKind::pointer_add || kind == OpKind::splat || kind == OpKind::broadcast ||
         kind == OpKind::expand_dims || kind == OpKind::relayout || kind == OpKind::reshape;
}

/// Base of an address, followed through captures. For an address in an argument's array: the
/// argument.
ValueId origin(const Program& program, ValueId address) {
  while (true) {
    const Op* op = defining_op(program, address);
    if (const auto from = captured(program, address)) {
      address = *from;
    } else if (op != nullptr && is_of_pointer(op->kind) && !op->operands.empty()) {
      address = op->operands[0];
    } else {
      return address;
    }
  }
}

}  // namespace

std::optional<ValueId> array_of(const Program& program, ValueId address) {
  return Origins(program).of(address);
}

bool may_meet(const Program& program, ValueId address, ValueId other) {
  const auto a = array_of(program, address), b = array_of(program, other);
  return !a || !b || *a == *b;
}

bool reads_what_stays(const Program& program, OpId load) {
  const Op& op = program.op(load);
  const auto function = enclosing(program, load, OpKind::function);
  if (op.kind != OpKind::load || op.is_volatile || op.operands.size() != 1 || !function) {
    return false;
  }
  const ValueId read = origin(program, op.operands[0]);
  if (!array_of(program, read)) return false;
  for (const OpId id : walk(program, *function)) {
    const auto access = memory_access(program.op(id));
    const bool writes = access && access->writes && access->space == AccessSpace::global;
    if (writes && may_meet(program, origin(program, access->address), read)) return false;
    if (class_of(program.op(id).kind) == OpClass::other) return false;
  }
  return true;
}

}  // namespace twill::ir
