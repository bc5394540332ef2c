#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "twill/frontend/ttgir/lexer.h"
#include "twill/support/diagnostic.h"

namespace twill::frontend::ttgir {

/// A place in the tokens of a text. Positions can be saved and returned to.
class Cursor {
 public:
  Cursor(std::string_view text, std::string file);

  const Token& peek(std::size_t ahead = 0) const;
  Token next();
  std::string_view text(const Token& token) const {
    return text_.substr(token.offset, token.length);
  }
  std::size_t text_size() const { return text_.size(); }

  std::size_t position() const { return index_; }
  void go_to(std::size_t position) { index_ = position; }
  const std::vector<Token>& tokens() const { return tokens_; }

  bool at(TokenKind kind, std::size_t ahead = 0) const { return peek(ahead).kind == kind; }
  bool at(char punctuation, std::size_t ahead = 0) const;
  bool at_word(std::string_view word, std::size_t ahead = 0) const;
  bool accept(char punctuation);
  bool accept_word(std::string_view word);
  bool accept(TokenKind kind);

  /// Takes the next token, which must be `punctuation`; `where` completes the message "expected ')'
  /// ...".
  Result<Token> expect(char punctuation, std::string_view where);
  Result<Token> expect(TokenKind kind, std::string_view what);
  Result<Token> expect_word(std::string_view word, std::string_view where);

  /// Takes "128x64x?x", the extents before an element type. An element type that the lexer glued to
  /// the last x becomes a separate token. nullopt: too large.
  std::optional<std::vector<std::int64_t>> shape_before_element();
  /// Takes the complete shape "3x128x64".
  std::optional<std::vector<std::int64_t>> whole_shape();

  /// Skips a bracketed group that starts here, with any contents. False without a closing bracket.
  bool skip_balanced();

  /// The tokens from `first` up to (not including) `last` as text, blanks normalized.
  std::string normalized(std::size_t first, std::size_t last) const;
  /// True if blanks or a comment stand between this token and the previous token.
  bool spaced(std::size_t index) const;
  /// Text between this token and the previous token: one blank, nothing, or the part of a shape
  /// that `shape_before_element` has taken off the token.
  std::string_view between(std::size_t index) const;

  Location location(const Token& token) const;

  /// Error "expected ..., found ...", or "the text ends".
  tl::unexpected<Diagnostic> unexpected(std::string_view expected) const;
  tl::unexpected<Diagnostic> fail(const Token& token, std::string message,
                                  std::string hint = {}) const;
  /// Error for text that is nested too deep at this place.
  tl::unexpected<Diagnostic> too_deep();
  /// Whether the text is too deep or at its end. Reading a part again in another way, once per
  /// level, would only cost time.
  bool is_hopeless() const { return is_too_deep_ || at(TokenKind::end) || at(TokenKind::error); }

 private:
  std::optional<std::vector<std::int64_t>> shape(bool before_element);
  void resume_at(std::size_t offset);

  std::string_view text_;
  std::string file_;
  std::vector<Token> tokens_;
  std::vector<std::uint32_t> line_starts_;
  std::size_t index_ = 0;
  bool is_too_deep_ = false;
};

}  // namespace twill::frontend::ttgir
