#pragma once

#include <cstddef>
#include <cstdint>

#include "twill/support/id.h"

/// Vocabulary of the engine: Boolean literals, weighted literals, integer nodes.
namespace twill::solve {

/// Boolean variable or its negation. Variables are numbered from 0; variable 0 is the constant
/// true, so every other literal belongs to a variable of at least 1.
class Literal {
 public:
  constexpr Literal() = default;
  constexpr Literal(std::uint32_t variable, bool negative)
      : code_(2 * variable + (negative ? 1U : 0U)) {}

  static constexpr Literal from_code(std::uint32_t code) {
    Literal literal;
    literal.code_ = code;
    return literal;
  }

  constexpr std::uint32_t variable() const { return code_ >> 1; }
  constexpr bool negative() const { return (code_ & 1U) != 0; }
  constexpr std::uint32_t code() const { return code_; }  ///< dense: 2 * variable + negative
  constexpr Literal operator~() const { return from_code(code_ ^ 1U); }

  friend constexpr auto operator<=>(Literal, Literal) = default;

 private:
  std::uint32_t code_ = 0;
};

inline constexpr Literal kTrue = Literal(0, false);
inline constexpr Literal kFalse = Literal(0, true);

/// Weighted literal: `coefficient` if `literal` is true, else 0. Coefficients are positive.
struct Term {
  std::int64_t coefficient = 1;
  Literal literal;
};

struct NodeTag;
/// Integer variable of the difference logic.
using Node = Id<NodeTag>;

/// Difference constraint: x - y >= bound.
struct Difference {
  Node x;
  Node y;
  std::int64_t bound = 0;
};

}  // namespace twill::solve
