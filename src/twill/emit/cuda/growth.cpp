#include "twill/emit/cuda/growth.h"

#include <cstddef>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "twill/ir/loop.h"

namespace twill::emit::cuda {

using ir::OpKind;

namespace {

/// The scalar equal to all elements of an invariant tile, or an invariant scalar itself.
std::optional<std::string> uniform(const View& view, Scalars& scalars, ir::ValueId value) {
  if (const auto number = ir::constant_integer(view.program(), value)) {
    return std::to_string(*number);
  }
  if (!is_register_tile(ir::type_of(view.program(), value))) {
    if (!ir::is_invariant(view.program(), view.loop(), value)) return std::nullopt;
    const auto text = scalars(value, "");
    return text ? std::optional(*text) : std::nullopt;
  }
  const ir::Op* op = ir::defining_op(view.program(), value);
  const bool same = op != nullptr && (op->kind == OpKind::splat || op->kind == OpKind::broadcast ||
                                      op->kind == OpKind::expand_dims || op->kind == OpKind::sext ||
                                      op->kind == OpKind::relayout);
  return same ? uniform(view, scalars, op->operands[0]) : std::nullopt;
}

class Growths {
 public:
  Growths(const View& view, Scalars& scalars) : view_(view), scalars_(scalars) {}

  std::optional<std::string> of(ir::ValueId value) {
    const auto known = known_.find(value);
    if (known != known_.end()) return known->second;
    known_[value] = std::nullopt;  // a value computed from itself has no increment
    auto grows = computed(value);
    if (grows && grows->size() > kLongest) grows = std::nullopt;
    return known_[value] = std::move(grows);
  }

 private:
  std::optional<std::string> computed(ir::ValueId value) {
    if (ir::is_invariant(view_.program(), view_.loop(), value)) return kNothing;
    if (value == view_.loop().induction) return uniform(view_, scalars_, *view_.loop().step);
    if (const auto advance = ir::advance_of(view_.program(), view_.loop(), value)) {
      return uniform(view_, scalars_, advance->by);
    }
    const ir::Op* op = ir::defining_op(view_.program(), value);
    if (op == nullptr) return std::nullopt;
    switch (op->kind) {
      case OpKind::splat:
      case OpKind::broadcast:
      case OpKind::expand_dims:
      case OpKind::relayout:
      case OpKind::sext:
        return of(op->operands[0]);
      case OpKind::pointer_add:
      case OpKind::add:
        return sum(of(op->operands[0]), of(op->operands[1]), "+");
      case OpKind::sub:
        return sum(of(op->operands[0]), of(op->operands[1]), "-");
      case OpKind::mul:
        return product(*op);
      default:
        return std::nullopt;
    }
  }

  static std::optional<std::string> sum(const std::optional<std::string>& a,
                                        const std::optional<std::string>& b, const char* sign) {
    if (!a || !b || *b == kNothing) return b ? a : std::nullopt;
    if (*a == kNothing && *sign == '+') return b;
    return fmt::format("({} {} {})", *a, sign, *b);
  }

  /// Product of a growing value and a loop-invariant uniform scalar.
  std::optional<std::string> product(const ir::Op& op) {
    for (const bool swapped : {false, true}) {
      const auto grows = of(op.operands[swapped ? 1 : 0]);
      const auto stays = of(op.operands[swapped ? 0 : 1]);
      if (!grows || !stays || *stays != kNothing) continue;
      if (const auto by = uniform(view_, scalars_, op.operands[swapped ? 0 : 1])) {
        return *grows == "1" ? *by : fmt::format("{} * {}", *grows, *by);
      }
    }
    return std::nullopt;
  }

  static constexpr const char* kNothing = "0";
  static constexpr std::size_t kLongest = 200;  // characters; a longer expression is unreadable
  const View& view_;
  Scalars& scalars_;
  std::map<ir::ValueId, std::optional<std::string>> known_;
};

}  // namespace

std::optional<std::string> growth_of(const View& view, Scalars& scalars, ir::ValueId value) {
  return Growths(view, scalars).of(value);
}

}  // namespace twill::emit::cuda
