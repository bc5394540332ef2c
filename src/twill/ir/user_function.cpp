#include "twill/ir/user_function.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace twill::ir {
namespace {

struct Spelling {
  FormulaWord word;
  std::string_view name;
  std::size_t arity;
  bool special = false;
};

constexpr std::array kSpellings = {
    Spelling{FormulaWord::operand, "x", 0},
    Spelling{FormulaWord::number, "", 0},
    Spelling{FormulaWord::add, "add", 2},
    Spelling{FormulaWord::sub, "sub", 2},
    Spelling{FormulaWord::mul, "mul", 2},
    Spelling{FormulaWord::div, "div", 2, true},
    Spelling{FormulaWord::max, "max", 2},
    Spelling{FormulaWord::min, "min", 2},
    Spelling{FormulaWord::neg, "neg", 1},
    Spelling{FormulaWord::exp, "exp", 1, true},
    Spelling{FormulaWord::exp2, "exp2", 1, true},
    Spelling{FormulaWord::log, "log", 1, true},
    Spelling{FormulaWord::log2, "log2", 1, true},
    Spelling{FormulaWord::sqrt, "sqrt", 1, true},
    Spelling{FormulaWord::rsqrt, "rsqrt", 1, true},
    Spelling{FormulaWord::tanh, "tanh", 1, true},
    Spelling{FormulaWord::erf, "erf", 1, true},
    Spelling{FormulaWord::abs, "abs", 1},
    Spelling{FormulaWord::lt, "lt", 2},
    Spelling{FormulaWord::le, "le", 2},
    Spelling{FormulaWord::gt, "gt", 2},
    Spelling{FormulaWord::ge, "ge", 2},
    Spelling{FormulaWord::eq, "eq", 2},
    Spelling{FormulaWord::ne, "ne", 2},
    Spelling{FormulaWord::both, "and", 2},
    Spelling{FormulaWord::either, "or", 2},
    Spelling{FormulaWord::opposite, "not", 1},
    Spelling{FormulaWord::select, "select", 3},
    Spelling{FormulaWord::f16, "f16", 1},
    Spelling{FormulaWord::bf16, "bf16", 1},
};

constexpr bool stands_in_order() {
  for (std::size_t i = 0; i < kSpellings.size(); ++i) {
    if (kSpellings[i].word != static_cast<FormulaWord>(i)) return false;
  }
  return kSpellings.back().word == FormulaWord::bf16;
}
static_assert(stands_in_order());

const Spelling& spelling_of(FormulaWord word) { return kSpellings[static_cast<std::size_t>(word)]; }

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

std::optional<FormulaStep> step_in(std::string_view word, std::size_t operands) {
  const auto* const known =
      std::ranges::find(kSpellings, word, [](const Spelling& it) { return it.name; });
  if (known != kSpellings.end() && known->arity > 0) return FormulaStep{known->word};
  if (word[0] == 'x') {
    const auto operand = number_in<std::size_t>(word.substr(1));
    if (!operand || *operand >= operands) return std::nullopt;
    return FormulaStep{FormulaWord::operand, *operand};
  }
  const auto number = number_in<float>(word);
  if (!number) return std::nullopt;
  return FormulaStep{FormulaWord::number, 0, *number};
}

}  // namespace

std::string_view name_of(FormulaWord word) { return spelling_of(word).name; }

std::size_t arity_of(FormulaWord word) { return spelling_of(word).arity; }

std::optional<Formula> read_formula(std::string_view text, std::size_t operands) {
  Formula made;
  std::size_t height = 0;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (word.empty()) continue;
    const auto step = step_in(word, operands);
    if (!step || height < arity_of(step->word)) return std::nullopt;
    height += 1 - arity_of(step->word);
    made.steps.push_back(*step);
  }
  if (height != 1) return std::nullopt;
  return made;
}

FormulaCount count_of(const Formula& formula) {
  FormulaCount count;
  for (const FormulaStep& step : formula.steps) {
    const Spelling& it = spelling_of(step.word);
    if (it.arity > 0) ++(it.special ? count.special : count.others);
  }
  return count;
}

std::optional<UserFunction> user_function(const Op& op) {
  if (op.kind != OpKind::library_call || string_of(op, "libname") != kUserLibrary) {
    return std::nullopt;
  }
  auto meaning = read_formula(string_of(op, kMeaning), op.operands.size());
  if (!meaning) return std::nullopt;
  return UserFunction{string_of(op, "symbol"), string_of(op, "libpath"), *std::move(meaning)};
}

}  // namespace twill::ir
