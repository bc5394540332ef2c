#include "twill/ir/op_types.h"

/// Types of ops that compute each element independently.
namespace twill::ir {
namespace {

/// Element kinds of a cast's operand and result, and whether it narrows or widens.
struct Cast {
  OpKind kind;
  bool (*from)(Type);
  bool (*to)(Type);
  int direction = 0;  ///< -1: fewer bits, 1: more
};

bool is_pointer(Type scalar) { return scalar->kind == TypeKind::pointer; }

constexpr Cast kCasts[] = {
    {OpKind::fpext, is_floating, is_floating, 1}, {OpKind::fptrunc, is_floating, is_floating, -1},
    {OpKind::sext, is_whole, is_whole, 1},        {OpKind::zext, is_whole, is_whole, 1},
    {OpKind::trunc, is_whole, is_whole, -1},      {OpKind::sitofp, is_whole, is_floating, 0},
    {OpKind::uitofp, is_whole, is_floating, 0},   {OpKind::fptosi, is_floating, is_whole, 0},
    {OpKind::fptoui, is_floating, is_whole, 0},   {OpKind::index_cast, is_whole, is_whole, 0},
    {OpKind::index_castu, is_whole, is_whole, 0}, {OpKind::fpcast, is_floating, is_floating, 0},
    {OpKind::inttoptr, is_whole, is_pointer, 0},  {OpKind::ptrtoint, is_pointer, is_whole, 0},
};

MaybeMisfit cast(const OpTypes& types, const Cast& cast) {
  if (auto wrong = types.counts(1)) return wrong;
  if (auto wrong = types.laid_out(types.op().operands[0], types.result())) return wrong;
  const Type from = scalar_of(types.operand(0)), to = scalar_of(types.result());
  const int change = (to->bits > from->bits ? 1 : 0) - (to->bits < from->bits ? 1 : 0);
  const bool fits =
      cast.from(from) && cast.to(to) && (cast.direction == 0 || change == cast.direction);
  if (fits) return {};
  return types.bad(" makes no " + to->text + " of " + from->text);
}

MaybeMisfit comparison(const OpTypes& types) {
  if (auto wrong = types.counts(2)) return wrong;
  const Op& op = types.op();
  if (auto wrong = types.same(op.operands[1], types.operand(0))) return wrong;
  const Type scalar = scalar_of(types.operand(0));
  if (op.kind == OpKind::fcmp ? !is_floating(scalar) : !is_whole(scalar)) {
    return types.bad(" compares no " + scalar->text);
  }
  if (scalar_of(types.result())->name != "i1") return types.wrong(op.results[0], "i1 is wanted");
  return types.laid_out(op.results[0], types.operand(0));
}

MaybeMisfit selection(const OpTypes& types) {
  const Op& op = types.op();
  if (op.operands.size() != 3 || op.results.size() != 1) {
    return types.bad(" has three operands and one result");
  }
  for (const std::size_t arm : {1U, 2U}) {
    if (auto wrong = types.same(op.operands[arm], types.result())) return wrong;
  }
  const ValueId condition = op.operands[0];
  if (scalar_of(types.operand(0))->name != "i1") return types.wrong(condition, "i1 is wanted");
  return types.operand(0)->shape.empty() ? MaybeMisfit()
                                         : types.laid_out(condition, types.result());
}

MaybeMisfit bitcast(const OpTypes& types) {
  if (auto wrong = types.counts(1)) return wrong;
  if (auto wrong = types.shape(types.op().operands[0], types.result()->shape)) return wrong;
  const int from = element_bits(types.operand(0)), to = element_bits(types.result());
  if (from == to || from == 0 || to == 0) return {};
  return types.bad(" makes " + std::to_string(to) + " bits of " + std::to_string(from));
}

MaybeMisfit pointer_sum(const OpTypes& types) {
  if (auto wrong = types.counts(2)) return wrong;
  const Op& op = types.op();
  if (auto wrong = types.same(op.operands[0], types.result())) return wrong;
  if (!is_pointer(scalar_of(types.result()))) {
    return types.wrong(op.operands[0], "a pointer is wanted");
  }
  if (!is_whole(scalar_of(types.operand(1)))) {
    return types.wrong(op.operands[1], "integers are wanted");
  }
  return types.laid_out(op.operands[1], types.result());
}

bool takes_one_number(OpKind kind) {
  switch (kind) {
    case OpKind::fneg:
    case OpKind::exp:
    case OpKind::exp2:
    case OpKind::log:
    case OpKind::log2:
    case OpKind::sqrt:
    case OpKind::precise_sqrt:
    case OpKind::rsqrt:
    case OpKind::sin:
    case OpKind::cos:
    case OpKind::tanh:
    case OpKind::erf:
    case OpKind::fabs:
    case OpKind::floor:
    case OpKind::ceil:
      return true;
    default:
      return false;
  }
}

bool takes_numbers(OpKind kind) {
  switch (kind) {
    case OpKind::fadd:
    case OpKind::fsub:
    case OpKind::fmul:
    case OpKind::fdiv:
    case OpKind::precise_fdiv:
    case OpKind::frem:
    case OpKind::fma:
    case OpKind::fmaximum:
    case OpKind::fminimum:
    case OpKind::fmaxnum:
    case OpKind::fminnum:
    case OpKind::clamp:
      return true;
    default:
      return takes_one_number(kind);
  }
}

std::size_t operand_count(OpKind kind) {
  switch (kind) {
    case OpKind::fma:
    case OpKind::clamp:
      return 3;
    case OpKind::iabs:
      return 1;
    default:
      return takes_one_number(kind) ? 1 : 2;
  }
}

/// Checks that all operands and the result have one type.
MaybeMisfit uniform(const OpTypes& types) {
  const Op& op = types.op();
  if (auto wrong = types.counts(operand_count(op.kind))) return wrong;
  for (const ValueId operand : op.operands) {
    if (auto wrong = types.same(operand, types.result())) return wrong;
  }
  const Type scalar = scalar_of(types.result());
  const bool fits = takes_numbers(op.kind) ? is_floating(scalar) : is_whole(scalar);
  if (fits || scalar->kind == TypeKind::other) return {};
  return types.bad(" takes no " + types.result()->text);
}

/// Checks ops with two results: both operands and the first result have one type.
MaybeMisfit with_two_results(const OpTypes& types) {
  if (auto wrong = types.counts(2, 2)) return wrong;
  if (auto wrong = types.same(types.op().operands[0], types.result())) return wrong;
  return types.same(types.op().operands[1], types.result());
}

}  // namespace

MaybeMisfit elementwise_misfit(const OpTypes& types) {
  for (const Cast& known : kCasts) {
    if (known.kind == types.op().kind) return cast(types, known);
  }
  switch (types.op().kind) {
    case OpKind::icmp:
    case OpKind::fcmp:
      return comparison(types);
    case OpKind::select:
      return selection(types);
    case OpKind::bitcast:
      return bitcast(types);
    case OpKind::pointer_add:
      return pointer_sum(types);
    case OpKind::pointer_advance:
      return {};
    case OpKind::smul_long:
    case OpKind::umul_long:
    case OpKind::uadd_carry:
      return with_two_results(types);
    default:
      return uniform(types);
  }
}

}  // namespace twill::ir
