#include "twill/extract/counter.h"

#include <map>
#include <set>

namespace twill::extract {
namespace {

using ir::OpKind;

/// Deepest chain of counting ops that is followed, by recursion.
constexpr int kDeepestCounter = 200;

bool only_widens(OpKind kind) {
  return kind == OpKind::sext || kind == OpKind::zext || kind == OpKind::trunc ||
         kind == OpKind::index_cast || kind == OpKind::index_castu;
}

class Counting {
 public:
  Counting(const ir::Program& program, const ir::Loop& loop) : program_(program), loop_(loop) {}

  bool counts(ir::ValueId value) {
    if (is_invariant(value) || depth_ == kDeepestCounter) return false;
    const auto known = known_.find(value);
    if (known != known_.end()) return known->second;
    ++depth_;
    const bool made = is_made_by_counting(value);
    --depth_;
    known_.emplace(value, made);
    return made;
  }

 private:
  bool is_made_by_counting(ir::ValueId value) {
    if (loop_.induction == value) return true;
    for (const ir::Carried& carried : loop_.carried) {
      if (carried.argument == value) return goes_on(carried);
    }
    for (const ir::Forwarded& forwarded : loop_.forwarded) {
      if (forwarded.argument == value) return counts(forwarded.passed);
    }
    const ir::Op* op = ir::defining_op(program_, value);
    return op != nullptr && counts(*op, value);
  }

  /// Values that may follow a carried value: itself, a value an invariant further, or any other.
  struct Ways {
    bool stays = false;
    bool goes_on = false;
    bool otherwise = false;
  };

  bool is_invariant(ir::ValueId value) const { return ir::is_invariant(program_, loop_, value); }

  bool counts(const ir::Op& op, ir::ValueId value) {
    if (only_widens(op.kind)) return counts(op.operands[0]);
    if (op.kind == OpKind::select || op.kind == OpKind::branch) {
      bool any = false;
      for (const ir::ValueId arm : arms(op, value)) {
        if (is_invariant(arm)) continue;
        if (!counts(arm)) return false;
        any = true;
      }
      return any;
    }
    if (op.operands.size() != 2) return false;
    const bool left = is_invariant(op.operands[0]), right = is_invariant(op.operands[1]);
    switch (op.kind) {
      case OpKind::add:
      case OpKind::sub:
        if (!(left || counts(op.operands[0])) || !(right || counts(op.operands[1]))) return false;
        return left || right || !may_cancel(op);
      case OpKind::mul:
        return (left && counts(op.operands[1])) || (right && counts(op.operands[0]));
      case OpKind::sdiv:
      case OpKind::udiv:
        return right && counts(op.operands[0]);
      case OpKind::srem:
      case OpKind::urem:
        // A remainder by a constant may be 0 in every other iteration.
        return right && !ir::constant_integer(program_, op.operands[1]) && counts(op.operands[0]);
      default:
        return false;
    }
  }

  /// Whether a sum or difference of two counters may be constant, as in `i - (i - n)` and `i + (n -
  /// i)`.
  bool may_cancel(const ir::Op& op) const {
    const bool alike = falls(op.operands[0]) == falls(op.operands[1]);
    return alike == (op.kind == OpKind::sub);
  }

  /// Whether the value is computed by subtracting a counter.
  bool falls(ir::ValueId value) const {
    const ir::Op* op = ir::defining_op(program_, value);
    return op != nullptr && op->kind == OpKind::sub && !is_invariant(op->operands[1]);
  }

  /// Possible values of a select's or branch's result.
  std::vector<ir::ValueId> arms(const ir::Op& op, ir::ValueId value) const {
    if (op.kind == OpKind::select) return {op.operands[1], op.operands[2]};
    std::vector<ir::ValueId> found;
    const std::size_t index = program_.value(value).index;
    for (const std::size_t region : {0U, 1U}) {
      const auto block = ir::body(program_, *program_.value(value).op, region);
      const auto yield = block ? ir::terminator(program_, *block) : std::nullopt;
      if (yield && index < program_.op(*yield).operands.size()) {
        found.push_back(program_.op(*yield).operands[index]);
      }
    }
    return found;
  }

  bool goes_on(const ir::Carried& carried) {
    seen_.clear();
    const Ways ways = ways_of(carried.yielded, carried.argument, 0);
    return ways.goes_on && !ways.otherwise;
  }

  Ways ways_of(ir::ValueId value, ir::ValueId argument, int depth) {
    if (value == argument) return {.stays = true};
    if (is_invariant(value) || !seen_.insert(value).second) return {};
    if (depth == kDeepestCounter) return {.otherwise = true};
    for (const ir::Forwarded& forwarded : loop_.forwarded) {
      if (forwarded.argument == value) return ways_of(forwarded.passed, argument, depth + 1);
    }
    const ir::Op* op = ir::defining_op(program_, value);
    if (op == nullptr) return {.otherwise = true};
    if (op->kind == OpKind::select || op->kind == OpKind::branch) {
      Ways all;
      for (const ir::ValueId arm : arms(*op, value)) {
        const Ways ways = ways_of(arm, argument, depth + 1);
        all.stays |= ways.stays;
        all.goes_on |= ways.goes_on;
        all.otherwise |= ways.otherwise;
      }
      return all;
    }
    if (op->operands.size() != 2) return {.otherwise = true};
    const bool by_right = op->kind == OpKind::add || op->kind == OpKind::sub;
    for (const std::size_t side : {0U, 1U}) {
      const bool steps = side == 0 ? by_right : op->kind == OpKind::add;
      if (!steps || !is_invariant(op->operands[1 - side])) continue;
      const Ways ways = ways_of(op->operands[side], argument, depth + 1);
      return {.goes_on = ways.stays || ways.goes_on, .otherwise = ways.otherwise};
    }
    return {.otherwise = true};
  }

  const ir::Program& program_;
  const ir::Loop& loop_;
  std::map<ir::ValueId, bool> known_;
  std::set<ir::ValueId> seen_;  ///< used by ways_of
  int depth_ = 0;
};

}  // namespace

bool is_counter(const ir::Program& program, const ir::Loop& loop, ir::ValueId value) {
  return Counting(program, loop).counts(value);
}

}  // namespace twill::extract
