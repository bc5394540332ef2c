#include "twill/ir/user_function.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>

namespace twill::ir {
namespace {

/// To the nearest number with `bits` behind the point and exponents from `least` on; ties to even.
float rounded_to(float x, int bits, int least, float largest) {
  if (!std::isfinite(x) || x == 0) return x;
  int exponent = 0;
  std::frexp(x, &exponent);
  const int unit = std::max(exponent - 1, least) - bits;
  const double scaled = std::nearbyint(std::ldexp(static_cast<double>(x), -unit));
  const auto made = static_cast<float>(std::ldexp(scaled, unit));
  return std::fabs(made) > largest ? std::copysign(INFINITY, made) : made;
}

float to_f16(float x) { return rounded_to(x, 10, -14, 65504.0F); }
float to_bf16(float x) { return rounded_to(x, 7, -126, 3.3895314e38F); }

struct Word {
  std::string_view name;
  std::size_t arity;
  bool special;
  float (*function)(float, float, float);
};

constexpr std::array kWords = {
    Word{"add", 2, false, [](float a, float b, float) { return a + b; }},
    Word{"sub", 2, false, [](float a, float b, float) { return a - b; }},
    Word{"mul", 2, false, [](float a, float b, float) { return a * b; }},
    Word{"div", 2, true, [](float a, float b, float) { return a / b; }},
    Word{"max", 2, false, [](float a, float b, float) { return std::fmax(a, b); }},
    Word{"min", 2, false, [](float a, float b, float) { return std::fmin(a, b); }},
    Word{"neg", 1, false, [](float a, float, float) { return -a; }},
    Word{"exp", 1, true, [](float a, float, float) { return std::exp(a); }},
    Word{"exp2", 1, true, [](float a, float, float) { return std::exp2(a); }},
    Word{"log", 1, true, [](float a, float, float) { return std::log(a); }},
    Word{"log2", 1, true, [](float a, float, float) { return std::log2(a); }},
    Word{"sqrt", 1, true, [](float a, float, float) { return std::sqrt(a); }},
    Word{"rsqrt", 1, true, [](float a, float, float) { return 1 / std::sqrt(a); }},
    Word{"tanh", 1, true, [](float a, float, float) { return std::tanh(a); }},
    Word{"erf", 1, true, [](float a, float, float) { return std::erf(a); }},
    Word{"abs", 1, false, [](float a, float, float) { return std::fabs(a); }},
    Word{"lt", 2, false, [](float a, float b, float) { return a < b ? 1.0F : 0.0F; }},
    Word{"le", 2, false, [](float a, float b, float) { return a <= b ? 1.0F : 0.0F; }},
    Word{"gt", 2, false, [](float a, float b, float) { return a > b ? 1.0F : 0.0F; }},
    Word{"ge", 2, false, [](float a, float b, float) { return a >= b ? 1.0F : 0.0F; }},
    Word{"eq", 2, false, [](float a, float b, float) { return a == b ? 1.0F : 0.0F; }},
    Word{"ne", 2, false, [](float a, float b, float) { return a != b ? 1.0F : 0.0F; }},
    Word{"and", 2, false, [](float a, float b, float) { return a * b; }},
    Word{"or", 2, false, [](float a, float b, float) { return std::fmax(a, b); }},
    Word{"not", 1, false, [](float a, float, float) { return 1 - a; }},
    Word{"select", 3, false, [](float a, float b, float c) { return a != 0 ? b : c; }},
    Word{"f16", 1, false, [](float a, float, float) { return to_f16(a); }},
    Word{"bf16", 1, false, [](float a, float, float) { return to_bf16(a); }},
};

std::string_view string_of(const Op& op, std::string_view name) {
  for (const auto& [key, value] : op.attributes) {
    if (key == name && value->kind == AttributeKind::string) return value->value;
  }
  return {};
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::optional<Formula> Formula::read(std::string_view text, std::size_t operands) {
  Formula made;
  std::size_t height = 0;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (word.empty()) continue;
    const auto known =
        std::find_if(kWords.begin(), kWords.end(), [&](const Word& it) { return it.name == word; });
    if (known != kWords.end()) {
      if (height < known->arity) return std::nullopt;
      height -= known->arity;
      made.steps_.push_back({known->function, known->arity, {}, 0, known->special});
    } else if (word[0] == 'x') {
      const auto operand = number_in<std::size_t>(word.substr(1));
      if (!operand || *operand >= operands) return std::nullopt;
      made.steps_.push_back({nullptr, 0, operand, 0, false});
    } else {
      const auto number = number_in<float>(word);
      if (!number) return std::nullopt;
      made.steps_.push_back({nullptr, 0, {}, *number, false});
    }
    ++height;
  }
  if (height != 1) return std::nullopt;
  return made;
}

float Formula::run(std::span<const float> operands) const {
  std::vector<float> stack;
  for (const Step& step : steps_) {
    if (step.function == nullptr) {
      stack.push_back(step.operand ? operands[*step.operand] : step.number);
      continue;
    }
    std::array<float, 3> from{};
    std::copy(stack.end() - static_cast<std::ptrdiff_t>(step.arity), stack.end(), from.begin());
    stack.resize(stack.size() - step.arity);
    stack.push_back(step.function(from[0], from[1], from[2]));
  }
  return stack.front();
}

Formula::Count Formula::count() const {
  Count count;
  for (const Step& step : steps_) {
    if (step.function != nullptr) ++(step.special ? count.special : count.others);
  }
  return count;
}

std::optional<UserFunction> user_function(const Op& op) {
  if (op.kind != OpKind::library_call || string_of(op, "libname") != kUserLibrary) {
    return std::nullopt;
  }
  auto meaning = Formula::read(string_of(op, kMeaning), op.operands.size());
  if (!meaning) return std::nullopt;
  return UserFunction{string_of(op, "symbol"), string_of(op, "libpath"), *std::move(meaning)};
}

}  // namespace twill::ir
