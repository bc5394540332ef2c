#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "twill/ir/program.h"

/// Functions of the user's in CUDA C++, beside what they mean: a `tt.extern_elementwise` of the
/// library kUserLibrary, on f32.
namespace twill::ir {

inline constexpr std::string_view kUserLibrary = "twill.user";
inline constexpr std::string_view kMeaning = "twill.meaning";

/// Steps on a stack of f32 numbers. Conditions are 0 and 1.
enum class FormulaWord {
  operand,  ///< pushes an operand
  number,   ///< pushes a number
  add,
  sub,
  mul,
  div,
  max,  ///< of a number and NaN the number
  min,
  neg,
  exp,
  exp2,
  log,
  log2,
  sqrt,
  rsqrt,
  tanh,
  erf,
  abs,
  lt,
  le,
  gt,
  ge,
  eq,
  ne,
  both,
  either,
  opposite,
  select,  ///< of a condition and two numbers
  f16,     ///< rounds to it
  bf16,
};
/// The word as text has it.
std::string_view name_of(FormulaWord word);
/// Numbers that the word takes off the stack.
std::size_t arity_of(FormulaWord word);

struct FormulaStep {
  FormulaWord word = FormulaWord::number;
  std::size_t operand = 0;
  float number = 0;
};

/// Meaning of a function: every step finds its numbers on the stack, and one is left.
struct Formula {
  std::vector<FormulaStep> steps;
};

/// Reads "x0 x1 add", which is the sum of the first two operands. Words that have no name are
/// numbers. nullopt if a word is not known, or operands or results are too few or too many.
std::optional<Formula> read_formula(std::string_view text, std::size_t operands);

/// Steps on the unit of special functions, and all other arithmetic.
struct FormulaCount {
  std::int64_t special = 0;
  std::int64_t others = 0;
};
FormulaCount count_of(const Formula& formula);

struct UserFunction {
  std::string_view name;  ///< "mine::gelu"
  std::string_view code;  ///< CUDA C++ that defines it
  Formula meaning;
};

/// nullopt for an op that calls none, or one whose meaning cannot be read.
std::optional<UserFunction> user_function(const Op& op);

}  // namespace twill::ir
