#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "twill/ir/program.h"

/// CUDA C++ functions written by the user, with their meaning: a `tt.extern_elementwise` of the
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
  max,  ///< of a number and NaN: the number
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
  f16,     ///< rounds to f16
  bf16,
};
/// Spelling of the word in a formula's text.
std::string_view name_of(FormulaWord word);
/// Count of numbers that the word takes off the stack.
std::size_t arity_of(FormulaWord word);

struct FormulaStep {
  FormulaWord word = FormulaWord::number;
  std::size_t operand = 0;
  float number = 0;
};

/// Meaning of a function: every step finds its numbers on the stack, and one number is left.
struct Formula {
  std::vector<FormulaStep> steps;
};

/// Reads "x0 x1 add", the sum of the first two operands. Words without a name are numbers. nullopt
/// for an unknown word, or for too few or too many operands or results.
std::optional<Formula> read_formula(std::string_view text, std::size_t operands);

/// Counts of steps: on the unit of special functions, and other arithmetic.
struct FormulaCount {
  std::int64_t special = 0;
  std::int64_t others = 0;
};
FormulaCount count_of(const Formula& formula);

struct UserFunction {
  std::string_view name;  ///< "mine::gelu"
  std::string_view code;  ///< CUDA C++ definition of the function
  Formula meaning;
};

/// The user's function that an op calls; nullopt for other ops, and for a meaning that cannot be
/// read.
std::optional<UserFunction> user_function(const Op& op);

}  // namespace twill::ir
