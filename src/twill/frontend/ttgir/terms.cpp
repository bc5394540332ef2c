#include "twill/frontend/ttgir/terms.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "twill/frontend/ttgir/spelling.h"

namespace twill::frontend::ttgir {
namespace {

bool commutes(ir::OpKind kind) {
  switch (kind) {
    case ir::OpKind::add:
    case ir::OpKind::mul:
    case ir::OpKind::bit_and:
    case ir::OpKind::bit_or:
    case ir::OpKind::bit_xor:
    case ir::OpKind::smin:
    case ir::OpKind::smax:
    case ir::OpKind::umin:
    case ir::OpKind::umax:
    case ir::OpKind::fadd:
    case ir::OpKind::fmul:
      return true;
    default:
      return false;
  }
}

/// Whether every element of the result is an element of the only operand.
bool keeps_elements(ir::OpKind kind) {
  switch (kind) {
    case ir::OpKind::splat:
    case ir::OpKind::broadcast:
    case ir::OpKind::expand_dims:
    case ir::OpKind::reshape:
    case ir::OpKind::transpose:
    case ir::OpKind::fpext:
    case ir::OpKind::fptrunc:
    case ir::OpKind::fpcast:
      return true;
    default:
      return false;
  }
}

std::string_view scalar_of(std::string_view shape) {
  const std::size_t last = shape.find_last_of('x');
  const bool shaped = last != std::string_view::npos && shape[0] >= '0' && shape[0] <= '9';
  return shaped ? shape.substr(last + 1) : shape;
}

/// Whether a number is exact in every floating type: at most three significant bits, and close to
/// 1.
bool is_plain(double number) {
  if (number == 0) return true;
  int exponent = 0;
  const double eighths = std::frexp(number, &exponent) * 8;
  return eighths == std::trunc(eighths) && exponent > -4 && exponent < 5;
}

std::optional<double> unary(ir::OpKind kind, double x) {
  switch (kind) {
    case ir::OpKind::fneg:
      return -x;
    case ir::OpKind::exp:
      return std::exp(x);
    case ir::OpKind::exp2:
      return std::exp2(x);
    case ir::OpKind::log:
      return std::log(x);
    case ir::OpKind::log2:
      return std::log2(x);
    case ir::OpKind::sqrt:
      return std::sqrt(x);
    case ir::OpKind::tanh:
      return std::tanh(x);
    case ir::OpKind::erf:
      return std::erf(x);
    case ir::OpKind::fabs:
      return std::fabs(x);
    default:
      return std::nullopt;
  }
}

/// Whether the operands are zeros of opposite sign: either may count as the larger.
bool differ_in_sign_alone(double x, double y) {
  return x == y && std::signbit(x) != std::signbit(y);
}

std::optional<double> binary(ir::OpKind kind, double x, double y) {
  switch (kind) {
    case ir::OpKind::fadd:
    case ir::OpKind::add:
      return x + y;
    case ir::OpKind::fsub:
    case ir::OpKind::sub:
      return x - y;
    case ir::OpKind::fmul:
    case ir::OpKind::mul:
      return x * y;
    case ir::OpKind::fdiv:
      return y == 0 ? std::nullopt : std::optional(x / y);
    case ir::OpKind::fmaxnum:
    case ir::OpKind::fmaximum:
      return differ_in_sign_alone(x, y) ? std::nullopt : std::optional(std::max(x, y));
    case ir::OpKind::fminnum:
    case ir::OpKind::fminimum:
      return differ_in_sign_alone(x, y) ? std::nullopt : std::optional(std::min(x, y));
    default:
      return std::nullopt;
  }
}

}  // namespace

bool is_computation(const ir::Op& op) {
  if (!op.regions.empty()) return false;
  switch (op.kind) {
    case ir::OpKind::poison:
    case ir::OpKind::cat:
      return false;
    case ir::OpKind::broadcast:
    case ir::OpKind::expand_dims:
    case ir::OpKind::reshape:
    case ir::OpKind::transpose:
    case ir::OpKind::relayout:
      return true;
    default: {
      const ir::OpClass of = ir::class_of(op.kind);
      return of == ir::OpClass::elementwise || of == ir::OpClass::value ||
             of == ir::OpClass::rearrangement;
    }
  }
}

std::string description(const ir::Op& op) {
  std::string text = todays_name(op.name);
  for (const auto& [name, attribute] : op.attributes) {
    if (name.find('.') == std::string::npos) text += " " + name + "=" + attribute->text;
  }
  return text + op.form;
}

std::string text_without_layout(ir::Type type) {
  if (type->kind != ir::TypeKind::tensor) return type->text;
  std::string text;
  for (const std::int64_t extent : type->shape) text += std::to_string(extent) + "x";
  return text + type->element->text;
}

ir::ValueId without_extension(const ir::Program& program, ir::ValueId value) {
  for (const ir::Op* op = defining_op(program, value);
       op != nullptr && op->kind == ir::OpKind::sext && op->operands.size() == 1;
       op = defining_op(program, value)) {
    value = op->operands[0];
  }
  return value;
}

Terms::Term Terms::symbol() { return next_++; }

Terms::Term Terms::made(const std::string& what, const std::vector<Term>& operands) {
  const auto [place, fresh] = made_.try_emplace({what, operands}, next_);
  if (fresh) ++next_;
  return place->second;
}

Terms::Term Terms::number(double number, ir::Type type) {
  // -0 and 0 are different numbers.
  const std::string shape = text_without_layout(type);
  const std::string sign = std::signbit(number) ? "-" : "";
  const Term term = made(sign + std::to_string(std::fabs(number)) + " " + shape, {});
  constants_.emplace(term, Constant{number, shape});
  return term;
}

Terms::Term Terms::integer(std::int64_t value, ir::Type type) {
  return number(static_cast<double>(value), type);
}

const Terms::Constant* Terms::constant_at(Term term) const {
  const auto found = constants_.find(term);
  return found == constants_.end() ? nullptr : &found->second;
}

Terms::Term Terms::plus(Term a, Term b, ir::Type type) {
  for (const auto& [one, other] : {std::pair(a, b), std::pair(b, a)}) {
    const auto sum = sums_.find(one);
    if (sum == sums_.end() || sum->second.adds || sum->second.right != other) continue;
    return sum->second.left;
  }
  const Constant* x = constant_at(a);
  const Constant* y = constant_at(b);
  if (x != nullptr && y != nullptr) return number(x->number + y->number, type);
  const Term term = made("+ " + text_without_layout(type), {std::min(a, b), std::max(a, b)});
  sums_.emplace(term, Sum{true, a, b});
  return term;
}

Terms::Term Terms::minus(Term a, Term b, ir::Type type) {
  const auto sum = sums_.find(a);
  if (sum != sums_.end() && sum->second.adds) {
    if (sum->second.right == b) return sum->second.left;
    if (sum->second.left == b) return sum->second.right;
  }
  const Constant* x = constant_at(a);
  const Constant* y = constant_at(b);
  if (x != nullptr && y != nullptr) return number(x->number - y->number, type);
  const Term term = made("- " + text_without_layout(type), {a, b});
  sums_.emplace(term, Sum{false, a, b});
  return term;
}

/// Works without recursion, since texts may have chains of any length.
Terms::Term Terms::of(ir::ValueId value) {
  std::vector<ir::ValueId> open = {value};
  while (!open.empty()) {
    const ir::ValueId next = open.back();
    const std::size_t waiting = open.size();
    if (!known_.contains(next)) {
      const ir::Op* op = defining_op(program_, next);
      if (op != nullptr && is_computation(*op)) {
        std::copy_if(op->operands.begin(), op->operands.end(), std::back_inserter(open),
                     [&](ir::ValueId operand) { return !known_.contains(operand); });
      }
    }
    if (open.size() > waiting) continue;
    if (!known_.contains(next)) known_.emplace(next, compute(next));
    open.pop_back();
  }
  return known_.at(value);
}

std::optional<Terms::Term> Terms::constant(ir::ValueId value) {
  const ir::Attribute attribute = constant_of(program_, value);
  if (attribute == nullptr) return std::nullopt;
  const ir::Type type = type_of(program_, value);
  const auto known = constant_number(program_, value);
  if (known && std::fabs(*known) < 1e9 && *known * 16 == std::trunc(*known * 16)) {
    return number(*known, type);
  }
  if (!known) return symbol();
  return made(
      attribute->kind == ir::AttributeKind::dense ? attribute->elements[0]->text : attribute->text,
      {made(text_without_layout(type), {})});
}

Terms::Term Terms::compute(ir::ValueId value) {
  const ir::Op* op = defining_op(program_, value);
  if (op == nullptr || !is_computation(*op)) return symbol();
  if (op->kind == ir::OpKind::relayout && op->operands.size() == 1) {
    return known_.at(op->operands[0]);
  }
  if (const auto term = constant(value)) return *term;
  std::vector<Term> operands;
  for (const ir::ValueId operand : op->operands) operands.push_back(known_.at(operand));
  const ir::Type type = type_of(program_, value);
  if (op->kind == ir::OpKind::add) return plus(operands[0], operands[1], type);
  if (op->kind == ir::OpKind::sub) return minus(operands[0], operands[1], type);
  if (const auto term = folded(*op, operands, type)) return *term;
  if (commutes(op->kind)) std::sort(operands.begin(), operands.end());
  return made(description(*op) + " " + std::to_string(program_.value(value).index) + " " +
                  text_without_layout(type),
              operands);
}

std::optional<Terms::Term> Terms::folded(const ir::Op& op, const std::vector<Term>& operands,
                                         ir::Type type) {
  std::vector<double> numbers;
  for (const Term operand : operands) {
    const Constant* constant = constant_at(operand);
    if (constant == nullptr) return std::nullopt;
    const bool floating = scalar_of(constant->type).find('f') != std::string_view::npos;
    if (floating && !is_plain(constant->number)) return std::nullopt;
    numbers.push_back(constant->number);
  }
  std::optional<double> result;
  if (numbers.size() == 1) {
    result = keeps_elements(op.kind) ? std::optional(numbers[0]) : unary(op.kind, numbers[0]);
  }
  if (numbers.size() == 2) result = binary(op.kind, numbers[0], numbers[1]);
  if (!result || !is_plain(*result)) return std::nullopt;
  return number(*result, type);
}

}  // namespace twill::frontend::ttgir
