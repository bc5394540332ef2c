#include "twill/ir/runs.h"

#include <algorithm>

#include "twill/ir/loop.h"

namespace twill::ir {
namespace {

using Kind = Run::Kind;

/// Also the divisor that is assumed for zero.
constexpr std::int64_t kLargestDivisor = std::int64_t{1} << 30;

std::int64_t divisor_of(std::int64_t number) {
  if (number == 0) return kLargestDivisor;
  std::int64_t divisor = 1;
  while (divisor < kLargestDivisor && number % (2 * divisor) == 0) divisor *= 2;
  return divisor;
}

Run constant(std::int64_t divisor) {
  return {Kind::constant, std::clamp<std::int64_t>(divisor, 1, kLargestDivisor)};
}

bool is_tile(Type type) { return type->kind == TypeKind::tensor && !type->shape.empty(); }

/// Bytes from one element to the next, for pointers and tiles of pointers; 1 for numbers.
std::int64_t step_of(Type type) {
  const Type scalar = type->kind == TypeKind::tensor ? type->element : type;
  if (scalar->kind != TypeKind::pointer) return 1;
  return std::max<std::int64_t>(1, scalar->element->bits / 8);
}

/// A dimension's entry in the numbers that an op carries as a hint.
std::int64_t hint(const std::vector<std::int64_t>& numbers, int dimension) {
  if (numbers.empty()) return 1;
  const auto index = static_cast<std::size_t>(std::max(dimension, 0));
  return divisor_of(numbers[std::min(index, numbers.size() - 1)]);
}

/// Divisor of an argument that the text promises; 1 without a promise.
std::int64_t divisor_in_text(const Program& program, OpId function, std::size_t argument) {
  const auto said = argument_divisor(program, function, argument);
  return said ? divisor_of(*said) : 1;
}

}  // namespace

Run Runs::at(ValueId value, int dimension) {
  const Type type = type_of(*program_, value);
  if (!is_tile(type)) dimension = kNone;
  const auto known = known_.find({value, dimension});
  if (known != known_.end()) return known->second;
  // Cuts a circuit: a value computed from itself counts as unknown.
  known_[{value, dimension}] = {};
  const Run run = computed(value, dimension);
  known_[{value, dimension}] = run;
  return run;
}

Run Runs::computed(ValueId value, int dimension) {
  if (const auto number = constant_integer(*program_, value)) return constant(divisor_of(*number));
  const Op* op = defining_op(*program_, value);
  Run run = op == nullptr ? of_argument(value, dimension)
                          : hinted(*op, dimension, of_result(*op, dimension));
  if (dimension == kNone) run.kind = Kind::constant;
  return run;
}

Run Runs::of_argument(ValueId value, int dimension) {
  const Value& it = program_->value(value);
  const OpId holder = program_->region(program_->block(*it.block).region).op;
  if (program_->op(holder).kind == OpKind::function) {
    if (divisors_ != nullptr) {
      if (const auto given = divisors_->find(it.index); given != divisors_->end()) {
        return constant(given->second);
      }
    }
    return constant(divisor_in_text(*program_, holder, it.index));
  }
  const auto loop = as_loop(*program_, holder);
  if (!loop) return {};
  if (loop->induction == value) {
    return constant(std::min(at(*loop->lower, kNone).divisor, at(*loop->step, kNone).divisor));
  }
  const auto advance = advance_of(*program_, *loop, value);
  if (!advance) return {};
  Run by = at(advance->by, dimension);
  by.divisor *= step_of(type_of(*program_, value));
  return by.kind == Kind::constant ? sum(at(advance->init, dimension), by, false) : Run{};
}

/// Applies an op's hints. A divisor is promised only for the first element of each contiguous
/// range. For a run of consecutive elements the divisor therefore counts up to the length of the
/// run.
Run Runs::hinted(const Op& op, int dimension, Run run) const {
  const std::int64_t divisor = hint(op.hints.divisors, dimension);
  if (dimension == kNone) {
    if (!is_tile(type_of(*program_, op.results[0]))) run.divisor = std::max(run.divisor, divisor);
    return run;
  }
  if (hint(op.hints.consecutive, dimension) >= length_ && run.kind != Kind::consecutive) {
    run = {Kind::consecutive, 1};
  } else if (hint(op.hints.equal, dimension) >= length_ && run.kind != Kind::constant) {
    run = {Kind::constant, 1};
  }
  if (run.kind == Kind::constant) run.divisor = std::max(run.divisor, divisor);
  if (run.kind == Kind::consecutive) {
    const std::int64_t step = step_of(type_of(*program_, op.results[0]));
    run.divisor = std::max(run.divisor, std::min(divisor, step * length_));
  }
  return run;
}

Run Runs::sum(Run a, Run b, bool minus) const {
  const std::int64_t divisor = std::min({a.divisor, b.divisor, kLargestDivisor});
  if (a.kind == Kind::unknown || b.kind == Kind::unknown) return {Kind::unknown, divisor};
  if (a.kind == Kind::constant && b.kind == Kind::constant) return {Kind::constant, divisor};
  if (a.kind == Kind::consecutive && b.kind == Kind::constant) return {Kind::consecutive, divisor};
  if (minus) return {a.kind == b.kind ? Kind::constant : Kind::unknown, divisor};
  return {
      b.kind == Kind::consecutive && a.kind == Kind::constant ? Kind::consecutive : Kind::unknown,
      divisor};
}

Run Runs::product(const Op& op, Run a, Run b) const {
  if (a.kind == Kind::constant && b.kind == Kind::constant) {
    return constant(std::min(a.divisor, kLargestDivisor) * std::min(b.divisor, kLargestDivisor));
  }
  for (const bool swapped : {false, true}) {
    if (constant_integer(*program_, op.operands[swapped ? 0 : 1]) == 1) return swapped ? b : a;
  }
  return {};
}

/// A run between two adjacent multiples of the divisor has a single quotient.
Run Runs::quotient(const Op& op, Run a, Run b) const {
  if (b.kind != Kind::constant) return {};
  const auto by = constant_integer(*program_, op.operands[1]);
  if (by == 1) return a;
  if (a.kind == Kind::consecutive) return whole(a) && whole(b) ? constant(1) : Run{};
  if (a.kind != Kind::constant) return {};
  return constant(by && *by > 0 && a.divisor % *by == 0 ? a.divisor / *by : 1);
}

Run Runs::remainder(Run a, Run b) const {
  if (b.kind != Kind::constant) return {};
  const std::int64_t divisor = std::min(a.divisor, b.divisor);
  if (a.kind == Kind::constant) return {Kind::constant, divisor};
  if (a.kind == Kind::consecutive && whole(a) && whole(b)) return {Kind::consecutive, divisor};
  return {};
}

/// Numbers of MLIR's predicates, from 0: eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge.
Run Runs::comparison(const Op& op, Run a, Run b) const {
  if (a.kind == b.kind && a.kind != Kind::unknown) return constant(1);
  const std::int64_t predicate = op.predicate.value_or(0);
  const bool less = predicate == 2 || predicate == 5 || predicate == 6 || predicate == 9;
  const bool more = predicate == 3 || predicate == 4 || predicate == 7 || predicate == 8;
  const bool holds = (less && a.kind == Kind::consecutive && b.kind == Kind::constant) ||
                     (more && a.kind == Kind::constant && b.kind == Kind::consecutive);
  return holds && whole(a) && whole(b) ? constant(1) : Run{};
}

/// Elementwise ops have equal results for equal operands.
Run Runs::elementwise(const Op& op, int dimension) {
  if (dimension == kNone) return constant(1);
  const bool alike = class_of(op.kind) == OpClass::elementwise || op.kind == OpKind::load;
  if (!alike || op.operands.empty()) return {};
  for (const ValueId operand : op.operands) {
    if (at(operand, dimension).kind != Kind::constant) return {};
  }
  return constant(1);
}

Run Runs::of_result(const Op& op, int dimension) {
  const auto operand = [&](std::size_t index) { return at(op.operands[index], dimension); };
  switch (op.kind) {
    case OpKind::range: {
      const std::int64_t start = op.start;
      if (dimension == kNone) return constant(1);
      return {Kind::consecutive, std::min(divisor_of(start), length_)};
    }
    case OpKind::splat:
      return at(op.operands[0], kNone);
    case OpKind::broadcast: {
      const auto& shape = type_of(*program_, op.operands[0])->shape;
      const bool spreads = dimension != kNone && shape[static_cast<std::size_t>(dimension)] == 1;
      return at(op.operands[0], spreads ? kNone : dimension);
    }
    case OpKind::expand_dims: {
      const auto axis = static_cast<int>(op.axis.value_or(0));
      if (dimension == kNone || dimension == axis) return at(op.operands[0], kNone);
      return at(op.operands[0], dimension > axis ? dimension - 1 : dimension);
    }
    case OpKind::relayout:
    case OpKind::sext:
    case OpKind::zext:
    case OpKind::trunc:
    case OpKind::index_cast:
    case OpKind::index_castu:
      return operand(0);
    case OpKind::add:
    case OpKind::sub:
      return sum(operand(0), operand(1), op.kind == OpKind::sub);
    case OpKind::pointer_add: {
      Run offset = operand(1);
      offset.divisor *= step_of(type_of(*program_, op.results[0]));
      return sum(operand(0), offset, false);
    }
    case OpKind::mul:
      return product(op, operand(0), operand(1));
    case OpKind::sdiv:
    case OpKind::udiv:
      return quotient(op, operand(0), operand(1));
    case OpKind::srem:
    case OpKind::urem:
      return remainder(operand(0), operand(1));
    case OpKind::icmp:
      return comparison(op, operand(0), operand(1));
    case OpKind::smin:
    case OpKind::smax:
    case OpKind::umin:
    case OpKind::umax:
    case OpKind::select: {
      const std::size_t first = op.kind == OpKind::select ? 1 : 0;
      const Run a = operand(first), b = operand(first + 1);
      const bool picks_one = op.kind == OpKind::select && operand(0).kind == Kind::constant;
      if (a.kind != b.kind || (a.kind != Kind::constant && !picks_one)) return {};
      if (first == 1 && !picks_one) return {};
      return {a.kind, std::min(a.divisor, b.divisor)};
    }
    default:
      return elementwise(op, dimension);
  }
}

namespace {

bool holds(const Program& program, const Piece& piece,
           const std::map<std::size_t, std::int64_t>* divisors) {
  Runs runs(program, piece.elements, divisors);
  const MemoryAccess& access = piece.access;
  const Run address = runs.of(access.address, piece.dimension);
  const std::int64_t bytes = piece.elements * step_of(type_of(program, access.address));
  return address.kind == Kind::consecutive && address.divisor % bytes == 0 &&
         (!access.mask || runs.of(*access.mask, piece.dimension).kind == Kind::constant);
}

}  // namespace

bool in_one_piece(const Program& program, const MemoryAccess& access, std::size_t dimension,
                  std::int64_t elements) {
  return holds(program, {access, dimension, elements}, nullptr);
}

std::map<std::size_t, std::int64_t> divisors_relied_on(const Program& program, OpId function,
                                                       const std::vector<Piece>& pieces) {
  std::map<std::size_t, std::int64_t> divisors;
  const auto arguments = function_arguments(program, function);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::int64_t most = divisor_in_text(program, function, i);
    if (type_of(program, arguments[i])->kind != TypeKind::integer) continue;
    for (std::int64_t& least = divisors[i] = 1; least < most; least *= 2) {
      const bool enough = std::all_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
        return holds(program, piece, &divisors);
      });
      if (enough) break;
    }
  }
  std::erase_if(divisors, [](const auto& entry) { return entry.second == 1; });
  return divisors;
}

}  // namespace twill::ir
