#include "twill/tasks/vocabulary.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "twill/support/check.h"

namespace twill::tasks {
namespace {

constexpr std::array<std::string_view, 8> kScalars = {"f16",    "bf16", "f32", "f8e4m3",
                                                      "f8e5m2", "i8",   "i32", "i1"};
constexpr std::size_t kTensorScalars = 7;

constexpr Spelling kSpellings[] = {
    {Function::argument, "argument", 0, 0},
    {Function::constant, "constant", 0, 0},
    {Function::add, "+", 2, 2},
    {Function::sub, "-", 2, 2},
    {Function::mul, "*", 2, 2},
    {Function::div, "/", 2, 2},
    {Function::max, "max", 2, 2},
    {Function::min, "min", 2, 2},
    {Function::neg, "neg", 1, 1},
    {Function::exp, "exp", 1, 1},
    {Function::exp2, "exp2", 1, 1},
    {Function::log, "log", 1, 1},
    {Function::log2, "log2", 1, 1},
    {Function::sqrt, "sqrt", 1, 1},
    {Function::rsqrt, "rsqrt", 1, 1},
    {Function::tanh, "tanh", 1, 1},
    {Function::erf, "erf", 1, 1},
    {Function::abs, "abs", 1, 1},
    {Function::less, "<", 2, 2},
    {Function::less_equal, "<=", 2, 2},
    {Function::greater, ">", 2, 2},
    {Function::greater_equal, ">=", 2, 2},
    {Function::equal, "==", 2, 2},
    {Function::unequal, "!=", 2, 2},
    {Function::both, "and", 2, 2},
    {Function::either, "or", 2, 2},
    {Function::opposite, "not", 1, 1},
    {Function::select, "select", 3, 3},
    {Function::iota, "iota", 0, 0},
    {Function::cast, "cast", 1, 1},
    {Function::column, "column", 1, 1},
    {Function::row, "row", 1, 1},
    {Function::transpose, "transpose", 1, 1},
    {Function::row_max, "row_max", 1, 1},
    {Function::row_sum, "row_sum", 1, 1},
    {Function::mma, "mma", 2, 3},
};

}  // namespace

std::string_view name_of(Scalar scalar) { return kScalars[static_cast<std::size_t>(scalar)]; }

std::string_view ir_name_of(Scalar scalar) {
  if (scalar == Scalar::f8e4m3) return "f8E4M3FN";
  return scalar == Scalar::f8e5m2 ? "f8E5M2" : name_of(scalar);
}

std::optional<Scalar> scalar_named(std::string_view name) {
  const auto* const end = kScalars.begin() + kTensorScalars;
  const auto* const found = std::find(kScalars.begin(), end, name);
  if (found == end) return std::nullopt;
  return static_cast<Scalar>(found - kScalars.begin());
}

int bytes_of(Scalar scalar) {
  switch (scalar) {
    case Scalar::f16:
    case Scalar::bf16:
      return 2;
    case Scalar::f32:
    case Scalar::i32:
      return 4;
    case Scalar::f8e4m3:
    case Scalar::f8e5m2:
    case Scalar::i8:
    case Scalar::i1:
      break;
  }
  return 1;
}

bool can_be(Scalar scalar, double number) {
  if (!is_whole(scalar)) return true;
  constexpr double kLeastByte = -128, kMostByte = 127;
  if (number != std::floor(number)) return false;
  // A larger number may have been rounded to the limit.
  if (scalar != Scalar::i8) return std::abs(number) < kMostExact;
  return number >= kLeastByte && number <= kMostByte;
}

const Spelling& spelling_of(Function function) {
  const auto* found =
      std::find_if(std::begin(kSpellings), std::end(kSpellings),
                   [&](const Spelling& spelling) { return spelling.function == function; });
  TWILL_CHECK(found != std::end(kSpellings), "every function has a spelling");
  return *found;
}

namespace {

bool is_called_by_name(const Spelling& spelling) {
  const bool is_word = spelling.name[0] >= 'a' && spelling.name[0] <= 'z';
  return is_word && (spelling.most > 0 || spelling.function == Function::iota);
}

}  // namespace

std::optional<Function> function_named(std::string_view name) {
  for (const Spelling& spelling : kSpellings) {
    if (is_called_by_name(spelling) && spelling.name == name) return spelling.function;
  }
  return std::nullopt;
}

std::vector<std::string_view> function_names() {
  std::vector<std::string_view> names;
  for (const Spelling& spelling : kSpellings) {
    if (is_called_by_name(spelling)) names.push_back(spelling.name);
  }
  return names;
}

bool is_elementwise(Function function) {
  return function >= Function::add && function <= Function::select;
}

bool is_comparison(Function function) {
  return function >= Function::less && function <= Function::unequal;
}

bool takes(Function function, Scalar scalar) {
  switch (function) {
    case Function::both:
    case Function::either:
    case Function::opposite:
      return scalar == Scalar::i1;
    case Function::add:
    case Function::sub:
    case Function::mul:
    case Function::max:
    case Function::min:
      return scalar != Scalar::i1 && !is_byte(scalar);
    case Function::select:
      return true;
    default:
      return scalar != Scalar::i1 && !is_byte(scalar) &&
             (scalar != Scalar::i32 || is_comparison(function));
  }
}

}  // namespace twill::tasks
