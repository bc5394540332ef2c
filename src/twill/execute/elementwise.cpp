#include "twill/execute/elementwise.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>

#include "twill/execute/evaluate.h"
#include "twill/execute/integers.h"
#include "twill/execute/rounding.h"
#include "twill/ir/operands.h"

namespace twill::execute {
namespace {

using ir::OpKind;
using Wide = std::int64_t;
using Unsigned = std::uint64_t;

/// Of numbers; the result is rounded to the op's type afterwards.
using Unary = float (*)(float);
using Binary = float (*)(float, float);
float larger(float a, float b) { return std::fmax(a, b); }
float smaller(float a, float b) { return std::fmin(a, b); }
float maximum(float a, float b) { return std::isnan(a) ? a : std::isnan(b) ? b : std::fmax(a, b); }
float minimum(float a, float b) { return std::isnan(a) ? a : std::isnan(b) ? b : std::fmin(a, b); }

const std::map<OpKind, Unary>& unary() {
  static const std::map<OpKind, Unary> kTable = {
      {OpKind::arith_negf, [](float x) { return -x; }},
      {OpKind::math_absf, [](float x) { return std::abs(x); }},
      {OpKind::math_exp, [](float x) { return std::exp(x); }},
      {OpKind::math_exp2, [](float x) { return std::exp2(x); }},
      {OpKind::math_log, [](float x) { return std::log(x); }},
      {OpKind::math_log2, [](float x) { return std::log2(x); }},
      {OpKind::math_sqrt, [](float x) { return std::sqrt(x); }},
      {OpKind::tt_precise_sqrt, [](float x) { return std::sqrt(x); }},
      {OpKind::math_rsqrt, [](float x) { return 1 / std::sqrt(x); }},
      {OpKind::math_sin, [](float x) { return std::sin(x); }},
      {OpKind::math_cos, [](float x) { return std::cos(x); }},
      {OpKind::math_tanh, [](float x) { return std::tanh(x); }},
      {OpKind::math_erf, [](float x) { return std::erf(x); }},
      {OpKind::math_floor, [](float x) { return std::floor(x); }},
      {OpKind::math_ceil, [](float x) { return std::ceil(x); }},
      {OpKind::arith_extf, [](float x) { return x; }},
      {OpKind::arith_truncf, [](float x) { return x; }},
      {OpKind::tt_fp_to_fp, [](float x) { return x; }},
  };
  return kTable;
}

const std::map<OpKind, Binary>& binary() {
  static const std::map<OpKind, Binary> kTable = {
      {OpKind::arith_addf, [](float a, float b) { return a + b; }},
      {OpKind::arith_subf, [](float a, float b) { return a - b; }},
      {OpKind::arith_mulf, [](float a, float b) { return a * b; }},
      {OpKind::arith_divf, [](float a, float b) { return a / b; }},
      {OpKind::tt_precise_divf, [](float a, float b) { return a / b; }},
      {OpKind::arith_remf, [](float a, float b) { return std::fmod(a, b); }},
      {OpKind::arith_maxnumf, larger},
      {OpKind::arith_minnumf, smaller},
      {OpKind::arith_maximumf, maximum},
      {OpKind::arith_minimumf, minimum},
  };
  return kTable;
}

/// Functions of CUDA's device library by their names there, or nullptr.
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

/// arith.cmpf's: false, then eq gt ge lt le ne ord ordered, then uno.. unordered (8: ueq, ...),
/// true.
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

/// Operands side by side: scalars are the same for every element.
class Elements {
 public:
  explicit Elements(std::span<const TilePtr> operands) : operands_(operands) {
    for (const TilePtr& tile : operands) {
      if (!tile->shape.empty()) shape_ = tile->shape;
    }
  }
  const Shape& shape() const { return shape_; }
  float number(std::size_t operand, std::size_t i) const {
    const Tile& tile = *operands_[operand];
    return tile.numbers()[tile.shape.empty() ? 0 : i];
  }
  Wide integer(std::size_t operand, std::size_t i) const {
    const Tile& tile = *operands_[operand];
    return tile.integers()[tile.shape.empty() ? 0 : i];
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
  template <class Data, class Element>
  Tile filled(Element element) const {
    Data data(static_cast<std::size_t>(size_of(shape_)));
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = element(i);
    return {shape_, std::move(data)};
  }
  std::span<const TilePtr> operands_;
  Shape shape_;
};

float as_number(Wide value, int bits, bool is_signed) {
  return is_signed ? static_cast<float>(value) : static_cast<float>(as_unsigned(value, bits));
}

/// Towards zero; what does not fit becomes the nearest that does, NaN zero (as cvt.rzi does).
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

Result<Tile> convert(const ir::Program& program, ir::OpId id, const Elements& in,
                     std::span<const TilePtr> operands) {
  const ir::Op& op = program.op(id);
  const ir::Type from = scalar_of(ir::type_of(program, op.operands[0]));
  const ir::Type to = scalar_of(ir::type_of(program, op.results[0]));
  if (from == to) return *operands[0];
  switch (op.kind) {
    case OpKind::arith_sitofp:
    case OpKind::arith_uitofp: {
      const bool is_signed = op.kind == OpKind::arith_sitofp && from->bits > 1;
      return in.numbers(
          [&](std::size_t i) { return as_number(in.integer(0, i), from->bits, is_signed); });
    }
    case OpKind::arith_fptosi:
    case OpKind::arith_fptoui: {
      const bool is_signed = op.kind == OpKind::arith_fptosi;
      return in.integers(
          [&](std::size_t i) { return as_integer(in.number(0, i), to->bits, is_signed); });
    }
    case OpKind::arith_extsi:
      return in.integers([&](std::size_t i) {
        const Wide value = in.integer(0, i);
        return from->bits == 1 ? -value : value;
      });
    case OpKind::arith_extui:
    case OpKind::arith_index_castui:
      return in.integers([&](std::size_t i) {
        return static_cast<Wide>(as_unsigned(in.integer(0, i), from->bits));
      });
    case OpKind::arith_bitcast:
    case OpKind::tt_bitcast:
      if (from->name == "i32" && to->name == "f32") {
        return in.numbers([&](std::size_t i) {
          return std::bit_cast<float>(static_cast<std::uint32_t>(in.integer(0, i)));
        });
      }
      if (from->name == "f32" && to->name == "i32") {
        return in.integers(
            [&](std::size_t i) { return Wide{std::bit_cast<std::int32_t>(in.number(0, i))}; });
      }
      return cannot(program, id, "changes " + from->text + " to " + to->text);
    default:
      return in.integers([&](std::size_t i) { return in.integer(0, i); });
  }
}

bool is_conversion(OpKind kind) {
  switch (kind) {
    case OpKind::arith_sitofp:
    case OpKind::arith_uitofp:
    case OpKind::arith_fptosi:
    case OpKind::arith_fptoui:
    case OpKind::arith_extsi:
    case OpKind::arith_extui:
    case OpKind::arith_trunci:
    case OpKind::arith_bitcast:
    case OpKind::tt_bitcast:
    case OpKind::arith_index_cast:
    case OpKind::arith_index_castui:
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
  if (by_zero) return cannot(program, id, "divides by zero");
  return tile;
}

Result<Tile> call(const ir::Program& program, ir::OpId id, const Elements& in,
                  std::size_t operands) {
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
                            std::span<const TilePtr> operands) {
  const ir::Op& op = program.op(id);
  const auto predicate = ir::integer_attribute(op, "predicate").value_or(0);
  switch (op.kind) {
    case OpKind::math_fma:
      return in.numbers([&](std::size_t i) {
        return std::fma(in.number(0, i), in.number(1, i), in.number(2, i));
      });
    case OpKind::tt_clampf:
      return in.numbers([&](std::size_t i) {
        return smaller(larger(in.number(0, i), in.number(1, i)), in.number(2, i));
      });
    case OpKind::tt_extern_elementwise:
      return call(program, id, in, operands.size());
    case OpKind::math_absi:
      return in.integers([&](std::size_t i) { return std::abs(in.integer(0, i)); });
    case OpKind::arith_cmpf:
      return in.integers([&](std::size_t i) {
        return Wide{compares_numbers(predicate, in.number(0, i), in.number(1, i))};
      });
    case OpKind::arith_cmpi: {
      const int bits = scalar_of(ir::type_of(program, op.operands[0]))->bits;
      return in.integers([&](std::size_t i) {
        return Wide{compares(predicate, in.integer(0, i), in.integer(1, i), bits)};
      });
    }
    case OpKind::arith_select:
      if (operands[1]->is_floating()) {
        return in.numbers(
            [&](std::size_t i) { return in.number(in.integer(0, i) != 0 ? 1 : 2, i); });
      }
      return in.integers(
          [&](std::size_t i) { return in.integer(in.integer(0, i) != 0 ? 1 : 2, i); });
    case OpKind::tt_addptr:
      return in.integers([&](std::size_t i) { return in.integer(0, i) + in.integer(1, i); });
    default:
      return cannot(program, id, "is not known");
  }
}

bool is_other(OpKind kind) {
  switch (kind) {
    case OpKind::math_fma:
    case OpKind::tt_clampf:
    case OpKind::tt_extern_elementwise:
    case OpKind::math_absi:
    case OpKind::arith_cmpf:
    case OpKind::arith_cmpi:
    case OpKind::arith_select:
    case OpKind::tt_addptr:
      return true;
    default:
      return false;
  }
}

/// How many operands the op takes.
std::size_t arity(OpKind kind) {
  if (kind == OpKind::math_fma || kind == OpKind::tt_clampf || kind == OpKind::arith_select)
    return 3;
  return unary().contains(kind) || is_conversion(kind) || kind == OpKind::math_absi ? 1 : 2;
}

bool takes_numbers(OpKind kind) {
  return unary().contains(kind) || binary().contains(kind) || kind == OpKind::math_fma ||
         kind == OpKind::tt_clampf || kind == OpKind::tt_extern_elementwise ||
         kind == OpKind::arith_cmpf || kind == OpKind::arith_fptosi || kind == OpKind::arith_fptoui;
}

/// Operands as the op wants them, of one shape but for scalars.
bool fit(OpKind kind, std::span<const TilePtr> operands) {
  const bool called = kind == OpKind::tt_extern_elementwise;
  if (called ? operands.empty() : operands.size() != arity(kind)) return false;
  Shape shape;
  for (const TilePtr& tile : operands) {
    if (tile->shape.empty()) continue;
    if (!shape.empty() && tile->shape != shape) return false;
    shape = tile->shape;
  }
  if (kind == OpKind::arith_bitcast || kind == OpKind::tt_bitcast) return true;
  const bool numbers = takes_numbers(kind);
  const auto wanted = [&](const TilePtr& tile) { return tile->is_floating() == numbers; };
  if (kind != OpKind::arith_select) return std::all_of(operands.begin(), operands.end(), wanted);
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
    for (float& number : tile.numbers()) number = round_to(*format, static_cast<double>(number));
    return true;
  }
  if (scalar->kind != ir::TypeKind::integer && scalar->kind != ir::TypeKind::index) return false;
  for (Wide& integer : tile.integers()) integer = wrapped(integer, scalar->bits);
  return true;
}

bool is_elementwise(OpKind kind) {
  return unary().contains(kind) || binary().contains(kind) || integral(kind) != nullptr ||
         is_conversion(kind) || is_other(kind);
}

Result<Tile> elementwise(const ir::Program& program, ir::OpId id,
                         std::span<const TilePtr> operands) {
  const ir::Op& op = program.op(id);
  const Elements in(operands);
  if (op.results.empty() || !fit(op.kind, operands)) {
    return cannot(program, id, "has operands that do not fit");
  }
  Result<Tile> tile = Tile{};
  if (const auto one = unary().find(op.kind); one != unary().end()) {
    tile = in.numbers([&](std::size_t i) { return one->second(in.number(0, i)); });
  } else if (const auto two = binary().find(op.kind); two != binary().end()) {
    tile = in.numbers([&](std::size_t i) { return two->second(in.number(0, i), in.number(1, i)); });
  } else if (integral(op.kind) != nullptr) {
    tile = compute_integers(program, id, in);
  } else if (is_conversion(op.kind)) {
    tile = convert(program, id, in, operands);
  } else {
    tile = compute_others(program, id, in, operands);
  }
  if (!tile) return tile;
  const ir::Type type = scalar_of(ir::type_of(program, op.results[0]));
  if (!conform(*tile, type)) return cannot(program, id, "makes " + type->text);
  return tile;
}

}  // namespace twill::execute
