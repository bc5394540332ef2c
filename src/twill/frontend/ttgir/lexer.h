#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

/// Splits MLIR text into tokens.
namespace twill::frontend::ttgir {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

enum class TokenKind : std::uint8_t {
  end,          ///< end of the text
  error,        ///< no MLIR token starts here, or a string does not end
  identifier,   ///< arith.addi, tensor, f32, x128xf16
  value,        ///< %name
  label,        ///< ^bb0
  symbol,       ///< @name, @"name"
  hash,         ///< #alias, #dialect.attribute, and the #1 of %5#1
  bang,         ///< !alias, !dialect.type
  integer,      ///< 12, 0xFF
  floating,     ///< 1.5e+00
  string,       ///< "...", quotes included
  arrow,        ///< ->
  punctuation,  ///< one character
};

struct Token {
  TokenKind kind = TokenKind::end;
  bool first_on_line = false;
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
};

/// All tokens; the last is `end` or `error`. Comments and the `{-# ... #-}` block of resources are
/// skipped. `text` must be shorter than 4 GiB. Linear.
std::vector<Token> tokens_of(std::string_view text);

}  // namespace twill::frontend::ttgir
