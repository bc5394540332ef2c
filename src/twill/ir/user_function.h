#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "twill/ir/program.h"

/// Functions of the user's in CUDA C++, beside what they mean: a `tt.extern_elementwise` of the
/// library kUserLibrary, on f32.
namespace twill::ir {

inline constexpr std::string_view kUserLibrary = "twill.user";
inline constexpr std::string_view kMeaning = "twill.meaning";

/// Meaning of a function, as steps on a stack of f32 numbers: "x0 x1 add" is the sum of the first
/// two operands. Other words are numbers; sub mul div max min neg exp exp2 log log2 sqrt rsqrt tanh
/// erf abs; lt le gt ge eq ne and or not, whose conditions are 0 and 1. There are select of a
/// condition and two numbers, and f16 and bf16, which round.
class Formula {
 public:
  /// nullopt if a word is not known, or operands or results are too few or too many.
  static std::optional<Formula> read(std::string_view text, std::size_t operands);

  float run(std::span<const float> operands) const;

  /// Steps on the unit of special functions, and all other arithmetic.
  struct Count {
    std::int64_t special = 0;
    std::int64_t others = 0;
  };
  Count count() const;

 private:
  using Function = float (*)(float, float, float);
  struct Step {
    Function function = nullptr;  ///< null: pushes an operand or a number
    std::size_t arity = 0;
    std::optional<std::size_t> operand;
    float number = 0;
    bool special = false;
  };
  std::vector<Step> steps_;
};

struct UserFunction {
  std::string_view name;  ///< "mine::gelu"
  std::string_view code;  ///< CUDA C++ that defines it
  Formula meaning;
};

/// nullopt for an op that calls none, or one whose meaning cannot be read.
std::optional<UserFunction> user_function(const Op& op);

}  // namespace twill::ir
