#include "twill/execute/elementwise.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>

#include "twill/execute/addresses.h"
#include "twill/execute/assembly.h"
#include "twill/execute/by_kind.h"
#include "twill/execute/evaluate.h"
#include "twill/execute/formula.h"
#include "twill/execute/integers.h"
#include "twill/execute/rounding.h"
#include "twill/execute/values.h"
#include "twill/ir/operands.h"

namespace twill::execute {
namespace {

using ir::OpKind;
using Wide = std::int64_t;
using Unsigned = std::uint64_t;

/// Functions on numbers; the result is rounded to the op's type afterwards.
using Unary = float (*)(float);
using Binary = float (*)(float, float);
float larger(float a, float b) { return std::fmax(a, b); }
float smaller(float a, float b) { return std::fmin(a, b); }
float maximum(float a, float b) { return std::isnan(a) ? a : std::isnan(b) ? b : std::fmax(a, b); }
float minimum(float a, float b) { return std::isnan(a) ? a : std::isnan(b) ? b : std::fmin(a, b); }

const ByKind<Unary>& unary() {
  static const ByKind<Unary> kTable = {
      {OpKind::fneg, [](float x) { return -x; }},
      {OpKind::fabs, [](float x) { return std::abs(x); }},
      {OpKind::exp, [](float x) { return std::exp(x); }},
      {OpKind::exp2, [](float x) { return std::exp2(x); }},
      {OpKind::log, [](float x) { return std::log(x); }},
      {OpKind::log2, [](float x) { return std::log2(x); }},
      {OpKind::sqrt, [](float x) { return std::sqrt(x); }},
      {OpKind::precise_sqrt, [](float x) { return std::sqrt(x); }},
      {OpKind::rsqrt, [](float x) { return 1 / std::sqrt(x); }},
      {OpKind::sin, [](float x) { return std::sin(x); }},
      {OpKind::cos, [](float x) { return std::cos(x); }},
      {OpKind::tanh, [](float x) { return std::tanh(x); }},
      {OpKind::erf, [](float x) { return std::erf(x); }},
      {OpKind::floor, [](float x) { return std::floor(x); }},
      {OpKind::ceil, [](float x) { return std::ceil(x); }},
      {OpKind::fpext, [](float x) { return x; }},
      {OpKind::fptrunc, [](float x) { return x; }},
      {OpKind::fpcast, [](float x) { return x; }},
  };
  return kTable;
}

const ByKind<Binary>& binary() {
  static const ByKind<Binary> kTable = {
      {OpKind::fadd, [](float a, float b) { return a + b; }},
      {OpKind::fsub, [](float a, float b) { return a - b; }},
      {OpKind::fmul, [](float a, float b) { return a * b; }},
      {OpKind::fdiv, [](float a, float b) { return a / b; }},
      {OpKind::precise_fdiv, [](float a, float b) { return a / b; }},
      {OpKind::frem, [](float a, float b) { return std::fmod(a, b); }},
      {OpKind::fmaxnum, larger},
      {OpKind::fminnum, smaller},
      {OpKind::fmaximum, maximum},
      {OpKind::fminimum, minimum},
  };
  return kTable;
}

/// Function of CUDA's device library by its name there; nullptr for others.
Unary unary_function(std::string_view name) {
  static const std::map<std::string_view, Unary> kTable = {
      {"tanhf", [](float x) { return std::tanh(x); }},
      {"fast_tanhf", [](float x) { return std::tanh(x); }},
      {"erff", [](float x) { return std::erf(x); }},
      {"expf", [](float x) { return std::exp(x); }},
      {"fast_expf", [](float x) { return std::exp(x); }},
      {"exp2f", [](float x) { return std::exp2(x); }},
      {"expm1f", [](float x) { return std::expm1(x); }},
      {"logf", [](float x) { return std::log(x); }},
      {"fast_logf", [](float x) { return std::log(x); }},
      {"log2f", [](float x) { return std::log2(x); }},
      {"log10f", [](float x) { return std::log10(x); }},
      {"log1pf", [](float x) { return std::log1p(x); }},
      {"sqrtf", [](float x) { return std::sqrt(x); }},
      {"rsqrtf", [](float x) { return 1 / std::sqrt(x); }},
      {"sinf", [](float x) { return std::sin(x); }},
      {"cosf", [](float x) { return std::cos(x); }},
      {"rintf", [](float x) { return std::nearbyint(x); }},
      {"nearbyintf", [](float x) { return std::nearbyint(x); }},
      {"roundf", [](float x) { return std::round(x); }},
      {"truncf", [](float x) { return std::trunc(x); }},
      {"floorf", [](float x) { return std::floor(x); }},
      {"ceilf", [](float x) { return std::ceil(x); }},
      {"fabsf", [](float x) { return std::abs(x); }},
  };
  const auto found = kTable.find(name);
  return found == kTable.end() ? nullptr : found->second;
}

Binary binary_function(std::string_view name) {
  static const std::map<std::string_view, Binary> kTable = {
      {"powf", [](float a, float b) { return std::pow(a, b); }},
      {"fast_powf", [](float a, float b) { return std::pow(a, b); }},
      {"fast_dividef", [](float a, float b) { return a / b; }},
      {"fmodf", [](float a, float b) { return std::fmod(a, b); }},
      {"fmaxf", larger},
      {"fminf", smaller},
  };
  const auto found = kTable.find(name);
  return found == kTable.end() ? nullptr : found->second;
}

/// Numbers of fcmp's predicates: 0 false; then eq gt ge lt le ne ord, ordered; from 8 on ueq ...,
/// unordered; last true.
bool compares_numbers(std::int64_t predicate, float a, float b) {
  constexpr std::int64_t kOrdered = 7, kUnordered = 14, kTrue = 15;
  const bool unordered = std::isnan(a) || std::isnan(b);
  if (predicate == 0 || predicate == kTrue) return predicate != 0;
  if (predicate == kOrdered || predicate == kUnordered)
    return unordered == (predicate == kUnordered);
  if (unordered) return predicate > kOrdered;
  switch (predicate > kOrdered ? predicate - kOrdered : predicate) {
    case 1:
      return a == b;
    case 2:
      return a > b;
    case 3:
      return a >= b;
    case 4:
      return a < b;
    case 5:
      return a <= b;
    default:
      return a != b;
  }
}

/// Operands of an op, element by element; a scalar is the same for every element.
class Elements {
 public:
  explicit Elements(std::span<const TilePtr> operands) {
    operands_.reserve(operands.size());
    for (const TilePtr& tile : operands) {
      if (!tile->shape.empty()) shape_ = &tile->shape;
      Operand& made = operands_.emplace_back();
      if (tile->is_floating()) {
        made.numbers = tile->numbers().data();
      } else {
        made.integers = tile->integers().data();
      }
      made.stride = tile->shape.empty() ? 0 : 1;
    }
  }
  /// Precondition of both accessors: the operand is of that kind.
  float number(std::size_t operand, std::size_t i) const {
    return operands_[operand].numbers[i * operands_[operand].stride];
  }
  Wide integer(std::size_t operand, std::size_t i) const {
    return operands_[operand].integers[i * operands_[operand].stride];
  }
  template <class Element>
  Tile numbers(Element element) const {
    return filled<Numbers>(element);
  }
  template <class Element>
  Tile integers(Element element) const {
    return filled<Integers>(element);
  }

 private:
  struct Operand {
    const float* numbers = nullptr;
    const Wide* integers = nullptr;
    std::size_t stride = 0;
  };
  template <class Data, class Element>
  Tile filled(Element element) const {
    Tile tile;
    if (shape_ != nullptr) tile.shape = *shape_;
    Data data(tile.size());
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = element(i);
    tile.data = std::move(data);
    return tile;
  }
  std::vector<Operand> operands_;
  const Shape* shape_ = nullptr;  ///< shape of the tiles among the operands; null: all are scalars
};

float as_number(Wide value, int bits, bool is_signed) {
  return is_signed ? static_cast<float>(value) : static_cast<float>(as_unsigned(value, bits));
}

/// Rounds towards zero. Numbers out of range become the nearest number in range, NaN becomes zero
/// (as by cvt.rzi).
Wide as_integer(float number, int bits, bool is_signed) {
  if (std::isnan(number)) return 0;
  const double least = is_signed ? -std::ldexp(1.0, bits - 1) : 0;
  const double most = std::ldexp(1.0, is_signed ? bits - 1 : bits);
  const double whole_number = std::trunc(static_cast<double>(number));
  if (whole_number <= least) return static_cast<Wide>(least);
  if (whole_number < most) {
    return is_signed ? static_cast<Wide>(whole_number)
                     : static_cast<Wide>(static_cast<Unsigned>(whole_number));
  }
  return is_signed ? static_cast<Wide>(std::numeric_limits<Unsigned>::max() >> (65 - bits))
                   : static_cast<Wide>(std::numeric_limits<Unsigned>::max() >> (64 - bits));
}

/// Reads the same bits as elements of another type. NaNs keep no payload.
Result<Tile> bits_as(const ir::Program& program, ir::OpId id, const Elements& in, ir::Type from,
                     ir::Type to) {
  if (from->bits != to->bits || !has_bits(from) || !has_bits(to)) {
    return cannot(program, id, "changes " + from->text + " to " + to->text);
  }
  const auto bits = [&](std::size_t i) {
    return from->kind == ir::TypeKind::floating
               ? bits_of(from, static_cast<double>(in.number(0, i)))
               : as_unsigned(in.integer(0, i), from->bits);
  };
  if (to->kind == ir::TypeKind::floating) {
    return in.numbers([&](std::size_t i) { return static_cast<float>(value_of(to, bits(i))); });
  }
  return in.integers([&](std::size_t i) { return wrapped(static_cast<Wide>(bits(i)), to->bits); });
}

Result<Tile> convert(const ir::Program& program, ir::OpId id, const Elements& in,
                     std::span<const TilePtr> operands) {
  const ir::Op& op = program.op(id);
  const ir::Type from = scalar_of(ir::type_of(program, op.operands[0]));
  const ir::Type to = scalar_of(ir::type_of(program, op.results[0]));
  if (from == to) return *operands[0];
  switch (op.kind) {
    case OpKind::sitofp:
    case OpKind::uitofp: {
      const bool is_signed = op.kind == OpKind::sitofp && from->bits > 1;
      return in.numbers(
          [&](std::size_t i) { return as_number(in.integer(0, i), from->bits, is_signed); });
    }
    case OpKind::fptosi:
    case OpKind::fptoui: {
      const bool is_signed = op.kind == OpKind::fptosi;
      return in.integers(
          [&](std::size_t i) { return as_integer(in.number(0, i), to->bits, is_signed); });
    }
    case OpKind::sext:
      return in.integers([&](std::size_t i) {
        const Wide value = in.integer(0, i);
        return from->bits == 1 ? -value : value;
      });
    case OpKind::zext:
    case OpKind::index_castu:
      return in.integers([&](std::size_t i) {
        return static_cast<Wide>(as_unsigned(in.integer(0, i), from->bits));
      });
    case OpKind::inttoptr:
    case OpKind::ptrtoint:
      return change_addresses(program, id, *operands[0]);
    case OpKind::bitcast:
      if (bits_behind(from) > 0 && bits_behind(from) == bits_behind(to)) {
        return *operands[0];  // loads and stores give the elements the pointer's type
      }
      if (from->name == "i32" && to->name == "f32") {
        return in.numbers([&](std::size_t i) {
          return std::bit_cast<float>(static_cast<std::uint32_t>(in.integer(0, i)));
        });
      }
      if (from->name == "f32" && to->name == "i32") {
        return in.integers(
            [&](std::size_t i) { return Wide{std::bit_cast<std::int32_t>(in.number(0, i))}; });
      }
      return bits_as(program, id, in, from, to);
    default:
      return in.integers([&](std::size_t i) { return in.integer(0, i); });
  }
}

bool is_conversion(OpKind kind) {
  switch (kind) {
    case OpKind::sitofp:
    case OpKind::uitofp:
    case OpKind::fptosi:
    case OpKind::fptoui:
    case OpKind::sext:
    case OpKind::zext:
    case OpKind::trunc:
    case OpKind::bitcast:
    case OpKind::index_cast:
    case OpKind::index_castu:
    case OpKind::inttoptr:
    case OpKind::ptrtoint:
      return true;
    default:
      return false;
  }
}

Result<Tile> compute_integers(const ir::Program& program, ir::OpId id, const Elements& in) {
  const ir::Op& op = program.op(id);
  const int bits = scalar_of(ir::type_of(program, op.operands[0]))->bits;
  const Integral operation = integral(op.kind);
  bool by_zero = false;
  const bool checks = divides(op.kind);
  Tile tile = in.integers([&](std::size_t i) {
    const Wide b = in.integer(1, i);
    if (checks && b == 0) {
      by_zero = true;
      return Wide{0};
    }
    return operation(in.integer(0, i), b, bits);
  });
  if (by_zero) {
    return cannot(program, id, "divides by zero, with the arguments chosen: --arg gives others");
  }
  return tile;
}

Result<Tile> call(const ir::Program& program, ir::OpId id, const Elements& in,
                  std::size_t operands) {
  if (const auto user = ir::user_function(program.op(id))) {
    std::vector<float> numbers(operands);
    return in.numbers([&](std::size_t i) {
      for (std::size_t k = 0; k < operands; ++k) numbers[k] = in.number(k, i);
      return run(user->meaning, numbers);
    });
  }
  const auto name = ir::device_function(program.op(id)).value_or("");
  const Unary one = operands == 1 ? unary_function(name) : nullptr;
  const Binary two = operands == 2 ? binary_function(name) : nullptr;
  if (one != nullptr) return in.numbers([&](std::size_t i) { return one(in.number(0, i)); });
  if (two != nullptr) {
    return in.numbers([&](std::size_t i) { return two(in.number(0, i), in.number(1, i)); });
  }
  return cannot(program, id, "calls a function that is not known");
}

Result<Tile> compute_others(const ir::Program& program, ir::OpId id, const Elements& in,
                            std::span<const TilePtr> operands, std::size_t result) {
  const ir::Op& op = program.op(id);
  const auto predicate = op.predicate.value_or(0);
  switch (op.kind) {
    case OpKind::fma:
      return in.numbers([&](std::size_t i) {
        return std::fma(in.number(0, i), in.number(1, i), in.number(2, i));
      });
    case OpKind::clamp:
      return in.numbers([&](std::size_t i) {
        return smaller(larger(in.number(0, i), in.number(1, i)), in.number(2, i));
      });
    case OpKind::library_call:
      return call(program, id, in, operands.size());
    case OpKind::inline_asm:
      return assemble(program, id, operands, result);
    case OpKind::iabs:
      return in.integers([&](std::size_t i) { return std::abs(in.integer(0, i)); });
    case OpKind::fcmp:
      return in.integers([&](std::size_t i) {
        return Wide{compares_numbers(predicate, in.number(0, i), in.number(1, i))};
      });
    case OpKind::icmp: {
      const int bits = scalar_of(ir::type_of(program, op.operands[0]))->bits;
      return in.integers([&](std::size_t i) {
        return Wide{compares(predicate, in.integer(0, i), in.integer(1, i), bits)};
      });
    }
    case OpKind::select:
      if (operands[1]->is_floating()) {
        return in.numbers(
            [&](std::size_t i) { return in.number(in.integer(0, i) != 0 ? 1 : 2, i); });
      }
      return in.integers(
          [&](std::size_t i) { return in.integer(in.integer(0, i) != 0 ? 1 : 2, i); });
    case OpKind::pointer_add:
      return in.integers([&](std::size_t i) { return in.integer(0, i) + in.integer(1, i); });
    default:
      return cannot(program, id, "is not known");
  }
}

bool is_other(OpKind kind) {
  switch (kind) {
    case OpKind::fma:
    case OpKind::clamp:
    case OpKind::library_call:
    case OpKind::inline_asm:
    case OpKind::iabs:
    case OpKind::fcmp:
    case OpKind::icmp:
    case OpKind::select:
    case OpKind::pointer_add:
      return true;
    default:
      return false;
  }
}

/// Number of the op's operands.
std::size_t arity(OpKind kind) {
  if (kind == OpKind::fma || kind == OpKind::clamp || kind == OpKind::select) return 3;
  return unary()[kind] != nullptr || is_conversion(kind) || kind == OpKind::iabs ? 1 : 2;
}

bool takes_numbers(OpKind kind) {
  return unary()[kind] != nullptr || binary()[kind] != nullptr || kind == OpKind::fma ||
         kind == OpKind::clamp || kind == OpKind::library_call || kind == OpKind::fcmp ||
         kind == OpKind::fptosi || kind == OpKind::fptoui;
}

/// Whether the operands fit the op: their number, and one shape but for scalars.
bool fit(OpKind kind, std::span<const TilePtr> operands) {
  const bool any = kind == OpKind::inline_asm;  // takes any number and types of operands
  const bool called = kind == OpKind::library_call;
  if (!any && (called ? operands.empty() : operands.size() != arity(kind))) return false;
  const Shape* shape = nullptr;
  for (const TilePtr& tile : operands) {
    if (tile->shape.empty()) continue;
    if (shape != nullptr && tile->shape != *shape) return false;
    shape = &tile->shape;
  }
  if (kind == OpKind::bitcast || any) return true;
  const bool numbers = takes_numbers(kind);
  const auto wanted = [&](const TilePtr& tile) { return tile->is_floating() == numbers; };
  if (kind != OpKind::select) return std::all_of(operands.begin(), operands.end(), wanted);
  return wanted(operands[0]) && operands[1]->is_floating() == operands[2]->is_floating();
}

}  // namespace

ir::Type scalar_of(ir::Type type) {
  const bool has_elements =
      type->kind == ir::TypeKind::tensor || type->kind == ir::TypeKind::memdesc;
  return has_elements ? type->element : type;
}

bool conform(Tile& tile, ir::Type scalar) {
  if (scalar->kind == ir::TypeKind::pointer) return !tile.is_floating();
  if (tile.is_floating()) {
    const auto format = format_of(scalar);
    if (!format) return false;
    if (scalar->name == "f32") return true;
    round_all(*format, tile.numbers());
    return true;
  }
  if (scalar->kind != ir::TypeKind::integer && scalar->kind != ir::TypeKind::index) return false;
  for (Wide& integer : tile.integers()) integer = wrapped(integer, scalar->bits);
  return true;
}

bool is_elementwise(OpKind kind) {
  return unary()[kind] != nullptr || binary()[kind] != nullptr || integral(kind) != nullptr ||
         is_conversion(kind) || is_other(kind);
}

Result<Tile> elementwise(const ir::Program& program, ir::OpId id, std::span<const TilePtr> operands,
                         std::size_t result) {
  const ir::Op& op = program.op(id);
  const Elements in(operands);
  if (result >= op.results.size() || !fit(op.kind, operands)) {
    return cannot(program, id, "has operands that do not fit");
  }
  Result<Tile> tile = Tile{};
  if (const Unary one = unary()[op.kind]) {
    tile = in.numbers([&](std::size_t i) { return one(in.number(0, i)); });
  } else if (const Binary two = binary()[op.kind]) {
    tile = in.numbers([&](std::size_t i) { return two(in.number(0, i), in.number(1, i)); });
  } else if (integral(op.kind) != nullptr) {
    tile = compute_integers(program, id, in);
  } else if (is_conversion(op.kind)) {
    tile = convert(program, id, in, operands);
  } else {
    tile = compute_others(program, id, in, operands, result);
  }
  if (!tile) return tile;
  const ir::Type type = scalar_of(ir::type_of(program, op.results[result]));
  if (!conform(*tile, type)) return cannot(program, id, "makes " + type->text);
  return tile;
}

}  // namespace twill::execute
