#include "twill/execute/formula.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "twill/execute/rounding.h"

namespace twill::execute {
namespace {

using ir::FormulaWord;

Format format_named(const char* type) {
  ir::TypeNode node;
  node.name = type;
  return *format_of(&node);
}

float rounded(const Format& format, float x) { return round_to(format, static_cast<double>(x)); }

}  // namespace

float applied(FormulaWord word, float a, float b, float c) {
  switch (word) {
    case FormulaWord::operand:
    case FormulaWord::number:
      break;
    case FormulaWord::add:
      return a + b;
    case FormulaWord::sub:
      return a - b;
    case FormulaWord::mul:
      return a * b;
    case FormulaWord::div:
      return a / b;
    case FormulaWord::max:
      return std::fmax(a, b);
    case FormulaWord::min:
      return std::fmin(a, b);
    case FormulaWord::neg:
      return -a;
    case FormulaWord::exp:
      return std::exp(a);
    case FormulaWord::exp2:
      return std::exp2(a);
    case FormulaWord::log:
      return std::log(a);
    case FormulaWord::log2:
      return std::log2(a);
    case FormulaWord::sqrt:
      return std::sqrt(a);
    case FormulaWord::rsqrt:
      return 1 / std::sqrt(a);
    case FormulaWord::tanh:
      return std::tanh(a);
    case FormulaWord::erf:
      return std::erf(a);
    case FormulaWord::abs:
      return std::fabs(a);
    case FormulaWord::lt:
      return a < b ? 1.0F : 0.0F;
    case FormulaWord::le:
      return a <= b ? 1.0F : 0.0F;
    case FormulaWord::gt:
      return a > b ? 1.0F : 0.0F;
    case FormulaWord::ge:
      return a >= b ? 1.0F : 0.0F;
    case FormulaWord::eq:
      return a == b ? 1.0F : 0.0F;
    case FormulaWord::ne:
      return a != b ? 1.0F : 0.0F;
    case FormulaWord::both:
      return a * b;
    case FormulaWord::either:
      return std::fmax(a, b);
    case FormulaWord::opposite:
      return 1 - a;
    case FormulaWord::select:
      return a != 0 ? b : c;
    case FormulaWord::f16: {
      static const Format format = format_named("f16");
      return rounded(format, a);
    }
    case FormulaWord::bf16: {
      static const Format format = format_named("bf16");
      return rounded(format, a);
    }
  }
  return a;
}

float run(const ir::Formula& formula, std::span<const float> operands) {
  std::vector<float> stack;
  for (const ir::FormulaStep& step : formula.steps) {
    if (step.word == FormulaWord::operand || step.word == FormulaWord::number) {
      stack.push_back(step.word == FormulaWord::operand ? operands[step.operand] : step.number);
      continue;
    }
    const std::size_t arity = ir::arity_of(step.word);
    std::array<float, 3> from{};
    std::copy(stack.end() - static_cast<std::ptrdiff_t>(arity), stack.end(), from.begin());
    stack.resize(stack.size() - arity);
    stack.push_back(applied(step.word, from[0], from[1], from[2]));
  }
  return stack.front();
}

}  // namespace twill::execute
