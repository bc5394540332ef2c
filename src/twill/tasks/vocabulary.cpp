#include "twill/tasks/vocabulary.h"

#include <algorithm>
#include <array>

#include "twill/support/check.h"

namespace twill::tasks {
namespace {

constexpr std::array<std::string_view, 3> kScalars = {"f16", "bf16", "f32"};

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

std::optional<Scalar> scalar_named(std::string_view name) {
  const auto found = std::find(kScalars.begin(), kScalars.end(), name);
  if (found == kScalars.end()) return std::nullopt;
  return static_cast<Scalar>(found - kScalars.begin());
}

int bytes_of(Scalar scalar) { return scalar == Scalar::f32 ? 4 : 2; }

const Spelling& spelling_of(Function function) {
  const auto* found =
      std::find_if(std::begin(kSpellings), std::end(kSpellings),
                   [&](const Spelling& spelling) { return spelling.function == function; });
  TWILL_CHECK(found != std::end(kSpellings), "every function has a spelling");
  return *found;
}

std::optional<Function> function_named(std::string_view name) {
  const bool is_word = !name.empty() && name[0] >= 'a' && name[0] <= 'z';
  for (const Spelling& spelling : kSpellings) {
    if (is_word && spelling.most > 0 && spelling.name == name) return spelling.function;
  }
  return std::nullopt;
}

bool is_elementwise(Function function) {
  return function >= Function::add && function <= Function::abs;
}

bool goes_by_rows(Function function, std::size_t operand) {
  if (function == Function::transpose || function == Function::row) return false;
  return function != Function::mma || operand != 1;
}

}  // namespace twill::tasks
