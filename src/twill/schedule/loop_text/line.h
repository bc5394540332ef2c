#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "twill/support/diagnostic.h"

namespace twill::schedule {

enum class TokenKind {
  word,    ///< letters, digits, '_', '.', and '-' between them
  number,  ///< decimal digits
  text,    ///< "..." with its quotes
  arrow,   ///< ->
  mark,    ///< one of : @ [ ]
  end,     ///< blank rest of the line, or a comment
  wrong,   ///< any other character
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view spelling;
  int column = 1;  ///< from 1, in bytes
};

/// One line of a `.loop` text, read word by word. Error messages name the expected words and the
/// words found.
class LoopLine {
 public:
  LoopLine(const std::string& file, std::string_view text, int number);

  const Token& peek() const { return token_; }
  Token take();
  bool at_end() const { return token_.kind == TokenKind::end; }
  bool accept(std::string_view mark);

  /// Takes a word. `what` names the expected word with its article: "a unit", "the number of
  /// warps".
  Result<Token> word(std::string_view what);
  Result<std::int64_t> number(std::string_view what, std::int64_t least, std::int64_t most);
  Result<std::string> text(std::string_view what);
  Result<void> keyword(std::string_view spelling);
  /// Takes a word of `words` and returns its index.
  Result<std::size_t> one_of(std::string_view what, std::span<const std::string_view> words);
  Result<void> end();

  int number() const { return number_; }
  /// Comment after the last token taken, if there is one: blanks, '#' and the comment itself.
  std::string_view remark() const;

  tl::unexpected<Diagnostic> fail_at(int column, std::string message, std::string hint = {}) const;
  tl::unexpected<Diagnostic> expected(std::string_view what, std::string hint = {}) const;

 private:
  void scan();

  const std::string& file_;
  std::string_view text_;
  int number_;
  std::size_t taken_ = 0;  ///< end of the last token taken
  std::size_t next_ = 0;   ///< end of `token_`
  Token token_;
};

/// Words of one line, each allowed once. `uses` and `occupies` may be repeated, each time for
/// another pipe or memory.
class WordsOfLine {
 public:
  /// `what` is the expectation that messages name.
  explicit WordsOfLine(std::span<const std::string_view> words,
                       std::string_view what = "another property or the end of the line")
      : words_(words), what_(what) {}

  /// Index of the line's next word. Fails for an unknown or repeated word.
  Result<std::size_t> next(LoopLine& line);

 private:
  std::span<const std::string_view> words_;
  std::string_view what_;
  std::uint32_t seen_ = 0;
};

}  // namespace twill::schedule
