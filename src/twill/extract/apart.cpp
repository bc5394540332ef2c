#include "twill/extract/apart.h"

#include <algorithm>
#include <map>
#include <optional>

#include "twill/ir/operands.h"

namespace twill::extract {
namespace {

using ir::OpKind;

/// Largest number followed: sums and products of two such numbers cannot overflow.
constexpr std::int64_t kLargest = std::int64_t{1} << 40;
/// Deepest chain of ops that is followed, by recursion.
constexpr int kDeepest = 200;

/// Value of an address: constant + invariants + each * iteration + the sum over dimensions of by *
/// index.
struct Sum {
  std::int64_t constant = 0;
  std::int64_t each = 0;
  std::map<ir::ValueId, std::int64_t> invariants;
  std::map<std::size_t, std::int64_t> by;
};

std::optional<Sum> known(Sum sum) {
  const auto small = [](std::int64_t it) { return it < kLargest && it > -kLargest; };
  bool good = small(sum.constant) && small(sum.each);
  for (const auto& [value, times] : sum.invariants) good = good && small(times);
  for (const auto& [dimension, times] : sum.by) good = good && small(times);
  std::erase_if(sum.invariants, [](const auto& it) { return it.second == 0; });
  std::erase_if(sum.by, [](const auto& it) { return it.second == 0; });
  return good ? std::optional(std::move(sum)) : std::nullopt;
}

std::optional<Sum> scaled(Sum sum, std::int64_t times) {
  if (times >= kLargest >> 20 || times <= -(kLargest >> 20)) return std::nullopt;
  if (!known(sum)) return std::nullopt;
  sum.constant *= times;
  sum.each *= times;
  for (auto& [value, its] : sum.invariants) its *= times;
  for (auto& [dimension, its] : sum.by) its *= times;
  return known(std::move(sum));
}

std::optional<Sum> added(Sum sum, const Sum& more) {
  sum.constant += more.constant;
  sum.each += more.each;
  for (const auto& [value, times] : more.invariants) sum.invariants[value] += times;
  for (const auto& [dimension, times] : more.by) sum.by[dimension] += times;
  return known(std::move(sum));
}

/// Follows the sources of addresses.
class Follower {
 public:
  explicit Follower(const Body& body) : body_(body), program_(*body.program) {}

  std::optional<Sum> of(ir::ValueId value, int depth = 0) const {
    if (depth > kDeepest) return std::nullopt;
    if (const auto number = ir::constant_integer(program_, value))
      return known({*number, 0, {}, {}});
    if (value == body_.loop.induction) return of_counter(depth);
    if (body_.carried.contains(value)) return of_carried(value, depth);
    if (const ir::Op* op = ir::defining_op(program_, value)) {
      if (const auto sum = of_result(*op, depth)) return sum;
    }
    const bool same = ir::is_invariant(program_, body_.loop, value) && !is_tile(program_, value);
    return same ? std::optional(Sum{0, 0, {{value, 1}}, {}}) : std::nullopt;
  }

 private:
  std::optional<Sum> of_counter(int depth) const {
    const auto step = ir::constant_integer(program_, *body_.loop.step);
    const auto first = of(*body_.loop.lower, depth + 1);
    return step && first ? added(*first, {0, *step, {}, {}}) : std::nullopt;
  }

  std::optional<Sum> of_carried(ir::ValueId value, int depth) const {
    const auto advance = ir::advance_of(program_, body_.loop, value);
    const auto by = advance ? ir::constant_integer(program_, advance->by) : std::nullopt;
    const auto first = by ? of(advance->init, depth + 1) : std::nullopt;
    return first ? added(*first, {0, *by, {}, {}}) : std::nullopt;
  }

  std::optional<Sum> of_result(const ir::Op& op, int depth) const {
    const auto operand = [&](std::size_t index) { return of(op.operands[index], depth + 1); };
    switch (op.kind) {
      case OpKind::range:
        return known({op.start, 0, {}, {{0, 1}}});
      case OpKind::splat:
      case OpKind::broadcast:
      case OpKind::relayout:
      case OpKind::sext:
      case OpKind::index_cast:
        return operand(0);
      case OpKind::expand_dims:
        return expanded(op, operand(0));
      case OpKind::add:
      case OpKind::pointer_add: {
        const auto a = operand(0), b = operand(1);
        return a && b ? added(*a, *b) : std::nullopt;
      }
      case OpKind::sub: {
        const auto a = operand(0), b = operand(1);
        const auto minus = b ? scaled(*b, -1) : std::nullopt;
        return a && minus ? added(*a, *minus) : std::nullopt;
      }
      case OpKind::mul: {
        const auto left = ir::constant_integer(program_, op.operands[0]);
        const auto right = ir::constant_integer(program_, op.operands[1]);
        if (!left && !right) return std::nullopt;
        const auto other = operand(left ? 1 : 0);
        return other ? scaled(*other, left ? *left : *right) : std::nullopt;
      }
      case OpKind::sdiv:
      case OpKind::udiv:
        return divided(operand(0), ir::constant_integer(program_, op.operands[1]));
      default:
        return std::nullopt;
    }
  }

  /// Divides all counters of a sum by a common divisor of their values and steps.
  static std::optional<Sum> divided(std::optional<Sum> sum, std::optional<std::int64_t> by) {
    if (!sum || !by || *by <= 0 || !sum->invariants.empty() || !sum->by.empty()) return {};
    if (sum->constant % *by != 0 || sum->each % *by != 0) return {};
    return known({sum->constant / *by, sum->each / *by, {}, {}});
  }

  static std::optional<Sum> expanded(const ir::Op& op, std::optional<Sum> sum) {
    if (!sum || !op.axis || *op.axis < 0) return std::nullopt;
    std::map<std::size_t, std::int64_t> by;
    for (const auto& [dimension, times] : sum->by) {
      by[dimension + (dimension >= static_cast<std::size_t>(*op.axis) ? 1 : 0)] = times;
    }
    sum->by = std::move(by);
    return sum;
  }

  const Body& body_;
  const ir::Program& program_;
};

/// Least and greatest value that a sum takes over the indices of a tile.
struct Span {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

Span span_of(const Sum& sum, const std::vector<std::int64_t>& shape) {
  Span span;
  for (const auto& [dimension, times] : sum.by) {
    const std::int64_t most = dimension < shape.size() ? shape[dimension] - 1 : 0;
    (times > 0 ? span.last : span.first) += times * most;
  }
  return span;
}

/// Whether [lead + each * k + b.first, ... + b.last] never meets [a.first, a.last], for k = 0 or
/// for all k > 0.
bool never_meet(const Span& a, const Span& b, std::int64_t lead, std::int64_t each,
                Meeting meeting) {
  const auto above = [&](std::int64_t at) { return at + b.first > a.last; };
  const auto below = [&](std::int64_t at) { return at + b.last < a.first; };
  if (meeting == Meeting::same_iteration) return above(lead) || below(lead);
  return (each >= 0 && above(lead + each)) || (each <= 0 && below(lead + each));
}

/// Distance from the first begin to the second; nullopt unless it is a known number for each pair
/// of iterations.
std::optional<std::int64_t> lead_of(const Sum& first, const Sum& second) {
  if (first.each != second.each || first.invariants != second.invariants) return std::nullopt;
  return second.constant - first.constant;
}

/// The tile whose elements an access reads or writes.
ir::Type tile_of(const ir::Program& program, const ir::MemoryAccess& access) {
  for (const auto value : {access.source, access.result, access.destination}) {
    if (value) return ir::type_of(program, *value);
  }
  return nullptr;
}

bool are_boxes_apart(const Follower& follow, const ir::Program& program, const ir::MemoryAccess& a,
                     const ir::MemoryAccess& b, Meeting meeting) {
  if (a.address != b.address || a.coordinates.size() != b.coordinates.size()) return false;
  const ir::Type block = ir::type_of(program, a.address)->element;
  if (block == nullptr || block->shape.size() != a.coordinates.size()) return false;
  for (std::size_t d = 0; d < a.coordinates.size(); ++d) {
    const auto x = follow.of(a.coordinates[d]), y = follow.of(b.coordinates[d]);
    const auto lead = x && y ? lead_of(*x, *y) : std::nullopt;
    const Span box{0, block->shape[d] - 1};
    if (lead && never_meet(box, box, *lead, x->each, meeting)) return true;
  }
  return false;
}

/// Whether descriptor and coordinates alone determine the box that an op accesses.
bool is_box(OpKind kind) {
  return kind == OpKind::block_load || kind == OpKind::block_store || kind == OpKind::block_update;
}

}  // namespace

bool are_apart(const Body& body, ir::OpId first, ir::OpId second, Meeting meeting) {
  const ir::Program& program = *body.program;
  const ir::Op &x = program.op(first), &y = program.op(second);
  const auto a = *ir::memory_access(x), b = *ir::memory_access(y);
  const Follower follow(body);
  if (is_box(x.kind) && is_box(y.kind)) return are_boxes_apart(follow, program, a, b, meeting);
  if (a.by_descriptor || b.by_descriptor) return false;
  const auto element = [&](ir::ValueId address) {
    const ir::Type type = ir::type_of(program, address);
    return ir::is_tensor(type) ? type->element : type;
  };
  if (element(a.address) != element(b.address)) return false;
  const ir::Type tile = tile_of(program, a), other = tile_of(program, b);
  if (tile == nullptr || other == nullptr) return false;
  const auto from = follow.of(a.address), to = follow.of(b.address);
  const auto lead = from && to ? lead_of(*from, *to) : std::nullopt;
  return lead && never_meet(span_of(*from, tile->shape), span_of(*to, other->shape), *lead,
                            from->each, meeting);
}

namespace {

/// Summands of an address: each is a known sum times an unknown invariant factor, or times 1.
class Parts {
 public:
  explicit Parts(const Body& body) : body_(body), follow_(body) {}

  /// Adds the summands of `times` this value. False if a summand that changes between iterations
  /// cannot be written as a sum.
  bool collect(ir::ValueId value, std::int64_t times, int depth = 0) {
    const ir::Program& program = *body_.program;
    if (depth > kDeepest || times >= kLargest >> 20 || times <= -(kLargest >> 20)) return false;
    if (const auto sum = follow_.of(value)) return add(std::nullopt, *sum, times, value);
    if (const auto advance = ir::advance_of(program, body_.loop, value)) {
      return collect(advance->init, times, depth + 1) && grow(advance->by, times, depth + 1);
    }
    if (value == body_.loop.induction) {
      return collect(*body_.loop.lower, times, depth + 1) &&
             grow(*body_.loop.step, times, depth + 1);
    }
    const ir::Op* op = ir::defining_op(program, value);
    if (op == nullptr) return ir::is_invariant(program, body_.loop, value);
    if (op->kind == OpKind::add || op->kind == OpKind::pointer_add) {
      return collect(op->operands[0], times, depth + 1) &&
             collect(op->operands[1], times, depth + 1);
    }
    for (const std::size_t side : {0U, 1U}) {
      if (op->kind != OpKind::mul) break;
      const ir::ValueId other = op->operands[1 - side];
      if (const auto number = ir::constant_integer(program, op->operands[side])) {
        return collect(other, times * *number, depth + 1);
      }
      const auto factor = number_of(op->operands[side]);
      const auto sum = factor ? follow_.of(other) : std::nullopt;
      if (sum) return add(factor, *sum, times, other);
    }
    if (passes(*op)) return collect(op->operands[0], times, depth + 1);
    return ir::is_invariant(program, body_.loop, value);
  }

  /// Values of a summand over the indices of a tile, and their growth per iteration.
  struct Part {
    std::int64_t each = 0;
    Span span;
  };
  const std::map<std::optional<ir::ValueId>, Part>& all() const { return parts_; }

 private:
  static bool passes(const ir::Op& op) {
    return op.kind == OpKind::splat || op.kind == OpKind::broadcast ||
           op.kind == OpKind::relayout || op.kind == OpKind::expand_dims || op.kind == OpKind::sext;
  }

  /// Adds `times` this invariant number to an address's growth per iteration.
  bool grow(ir::ValueId by, std::int64_t times, int depth) {
    const ir::Program& program = *body_.program;
    if (depth > kDeepest || times >= kLargest >> 20 || times <= -(kLargest >> 20)) return false;
    if (const auto number = ir::constant_integer(program, by)) {
      parts_[std::nullopt].each += times * *number;
      return true;
    }
    const ir::Op* op = ir::defining_op(program, by);
    if (op != nullptr && passes(*op)) return grow(op->operands[0], times, depth + 1);
    if (op != nullptr && op->kind == OpKind::add) {
      return grow(op->operands[0], times, depth + 1) && grow(op->operands[1], times, depth + 1);
    }
    for (const std::size_t side : {0U, 1U}) {
      if (op == nullptr || op->kind != OpKind::mul) break;
      const auto number = ir::constant_integer(program, op->operands[side]);
      if (number) return grow(op->operands[1 - side], times * *number, depth + 1);
    }
    const auto factor = number_of(by);
    if (factor) parts_[factor].each += times;
    return factor.has_value();
  }

  /// Invariant number that fills a tile.
  std::optional<ir::ValueId> number_of(ir::ValueId value) const {
    const ir::Op* op = ir::defining_op(*body_.program, value);
    while (op != nullptr && (op->kind == OpKind::splat || op->kind == OpKind::sext)) {
      value = op->operands[0];
      op = ir::defining_op(*body_.program, value);
    }
    const bool single =
        ir::is_invariant(*body_.program, body_.loop, value) && !is_tile(*body_.program, value);
    return single ? std::optional(value) : std::nullopt;
  }

  bool add(std::optional<ir::ValueId> factor, const Sum& sum, std::int64_t times,
           ir::ValueId value) {
    const auto all = scaled(sum, times);
    if (!all) return false;
    Part& part = parts_[factor];
    const Span span = span_of(*all, ir::type_of(*body_.program, value)->shape);
    part.each += all->each;
    part.span.first += span.first;
    part.span.last += span.last;
    return true;
  }

  const Body& body_;
  Follower follow_;
  std::map<std::optional<ir::ValueId>, Part> parts_;
};

/// Whether a summand grows by more in an iteration than it spans over the tile.
bool leads_away(const std::pair<const std::optional<ir::ValueId>, Parts::Part>& it) {
  const Parts::Part& part = it.second;
  return part.each != 0 &&
         never_meet(part.span, part.span, 0, part.each, Meeting::later_iterations);
}

}  // namespace

bool meets_itself(const Body& body, ir::OpId id) {
  const ir::Program& program = *body.program;
  const auto access = *ir::memory_access(program.op(id));
  if (access.by_descriptor) return !are_apart(body, id, id, Meeting::later_iterations);
  if (ir::type_of(program, access.address)->shape.empty()) return false;
  Parts parts(body);
  if (!parts.collect(access.address, 1)) return true;
  const auto& all = parts.all();
  const bool moves =
      std::any_of(all.begin(), all.end(), [](const auto& it) { return it.second.each != 0; });
  return moves && std::none_of(all.begin(), all.end(), leads_away);
}

std::vector<ir::ValueId> strides_assumed(const Body& body, ir::OpId id) {
  const ir::Program& program = *body.program;
  const auto access = *ir::memory_access(program.op(id));
  std::vector<ir::ValueId> strides;
  Parts parts(body);
  const bool tile = !access.by_descriptor && !ir::type_of(program, access.address)->shape.empty();
  if (!tile || !parts.collect(access.address, 1)) return strides;
  const auto& all = parts.all();
  if (std::none_of(all.begin(), all.end(), leads_away)) return strides;
  for (const auto& [factor, part] : all) {
    if (factor && (part.each != 0 || part.span.first != part.span.last)) strides.push_back(*factor);
  }
  return strides;
}

}  // namespace twill::extract
