#include "twill/execute/updates.h"

#include <cmath>
#include <cstdint>

#include "twill/execute/integers.h"
#include "twill/ir/operands.h"

namespace twill::execute {
namespace {

using ir::OpKind;

double add_numbers(double old, double value) {
  return static_cast<double>(static_cast<float>(old) + static_cast<float>(value));
}
double add_integers(double old, double value) { return old + value; }
double least_number(double old, double value) { return std::fmin(old, value); }
double greatest_number(double old, double value) { return std::fmax(old, value); }
template <OpKind kind>
double of_integers(double old, double value) {
  static const Integral function = integral(kind);
  constexpr int kWidest = 64;  // narrower integers are sign-extended, which keeps their order
  return static_cast<double>(
      function(static_cast<std::int64_t>(old), static_cast<std::int64_t>(value), kWidest));
}

/// Element type of an update's descriptor; null for updates without a descriptor.
ir::Type described(const ir::Program& program, const ir::Op& op) {
  const auto access = ir::memory_access(op);
  const bool describes = access && access->by_descriptor;
  return describes ? ir::type_of(program, access->address)->element->element : nullptr;
}

}  // namespace

double take_new(double, double value) { return value; }
double exchange(double, double value) { return value; }

Combine combination(const ir::Program& program, const ir::Op& op) {
  const bool combines =
      ir::class_of(op.kind) == ir::OpClass::update && op.kind != OpKind::atomic_compare;
  if (!combines) return take_new;
  const ir::Type type = described(program, op);
  const bool is_integer = type != nullptr && type->kind == ir::TypeKind::integer;
  const bool is_unsigned = is_integer && type->name.starts_with("ui");
  switch (op.update) {
    case ir::Update::add:
      return add_integers;
    case ir::Update::fadd:
      return is_integer ? add_integers : add_numbers;
    case ir::Update::max:
      return is_unsigned ? of_integers<OpKind::umax> : greatest_number;
    case ir::Update::min:
      return is_unsigned ? of_integers<OpKind::umin> : least_number;
    case ir::Update::umax:
      return of_integers<OpKind::umax>;
    case ir::Update::umin:
      return of_integers<OpKind::umin>;
    case ir::Update::bit_and:
      return of_integers<OpKind::bit_and>;
    case ir::Update::bit_or:
      return of_integers<OpKind::bit_or>;
    case ir::Update::bit_xor:
      return of_integers<OpKind::bit_xor>;
    case ir::Update::exchange:
      return exchange;
    case ir::Update::other:
      return nullptr;
  }
  return nullptr;
}

}  // namespace twill::execute
