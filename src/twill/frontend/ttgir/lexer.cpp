#include "twill/frontend/ttgir/lexer.h"

#include <cstddef>

namespace twill::frontend::ttgir {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '$' || c == '.'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> all() {
    std::vector<Token> tokens;
    tokens.reserve(text_.size() / 6 + 2);
    do {
      tokens.push_back(next());
    } while (tokens.back().kind != TokenKind::end && tokens.back().kind != TokenKind::error);
    return tokens;
  }

 private:
  char at(std::size_t ahead) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }

  bool starts(std::string_view with) const {
    return text_.compare(position_, with.size(), with) == 0;
  }

  void skip_past(std::string_view end) {
    const std::size_t found = text_.find(end, position_);
    position_ = found == std::string_view::npos ? text_.size() : found + end.size();
  }

  void skip_blanks() {
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (c == '\n') {
        first_on_line_ = true;
        ++position_;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++position_;
      } else if (c == '/' && starts("//")) {
        const std::size_t end = text_.find('\n', position_);
        position_ = end == std::string_view::npos ? text_.size() : end;
      } else if (c == '{' && starts("{-#")) {
        skip_past("#-}");
      } else {
        return;
      }
    }
  }

  Token next() {
    skip_blanks();
    Token token;
    token.first_on_line = first_on_line_;
    token.offset = static_cast<std::uint32_t>(position_);
    first_on_line_ = false;
    if (position_ < text_.size()) token.kind = scan();
    token.length = static_cast<std::uint32_t>(position_) - token.offset;
    return token;
  }

  TokenKind scan() {
    const char c = text_[position_];
    if (is_letter(c)) return scan_word(TokenKind::identifier);
    if (is_digit(c)) return scan_number();
    switch (c) {
      case '"':
        return scan_string();
      case '%':
        return scan_name(TokenKind::value);
      case '^':
        return scan_name(TokenKind::label);
      case '@':
        if (at(1) != '"') return scan_name(TokenKind::symbol);
        ++position_;
        return scan_string() == TokenKind::string ? TokenKind::symbol : TokenKind::error;
      case '#':
        return scan_prefixed(TokenKind::hash);
      case '!':
        return scan_prefixed(TokenKind::bang);
      default:
        break;
    }
    if (c == '-' && at(1) == '>') {
      position_ += 2;
      return TokenKind::arrow;
    }
    constexpr std::string_view kPunctuation = "(){}[]<>,:=+-*?/|.;&";
    ++position_;
    return kPunctuation.find(c) == std::string_view::npos ? TokenKind::error
                                                          : TokenKind::punctuation;
  }

  TokenKind scan_word(TokenKind kind) {
    while (is_word(at(0))) ++position_;
    return kind;
  }

  /// Scans a name, such as %12, %arg3 or %c-1_i32: a number, or letters, digits and $ . _ - in any
  /// order.
  TokenKind scan_name(TokenKind kind) {
    ++position_;
    const std::size_t start = position_;
    while (is_word(at(0)) || (at(0) == '-' && at(1) != '>')) ++position_;
    return position_ > start ? kind : TokenKind::error;
  }

  TokenKind scan_prefixed(TokenKind kind) {
    ++position_;
    return is_word(at(0)) ? scan_word(kind) : TokenKind::error;
  }

  TokenKind scan_number() {
    if (at(0) == '0' && at(1) == 'x' && is_hex(at(2))) {
      position_ += 2;
      while (is_hex(at(0))) ++position_;
      return TokenKind::integer;
    }
    while (is_digit(at(0))) ++position_;
    if (at(0) != '.') return TokenKind::integer;
    ++position_;
    while (is_digit(at(0))) ++position_;
    const std::size_t sign = at(1) == '+' || at(1) == '-' ? 2 : 1;
    if ((at(0) == 'e' || at(0) == 'E') && is_digit(at(sign))) {
      position_ += sign;
      while (is_digit(at(0))) ++position_;
    }
    return TokenKind::floating;
  }

  TokenKind scan_string() {
    ++position_;
    while (position_ < text_.size() && at(0) != '"' && at(0) != '\n') {
      const bool escapes = at(0) == '\\' && position_ + 1 < text_.size();
      position_ += escapes ? 2U : 1U;
    }
    if (at(0) != '"') return TokenKind::error;
    ++position_;
    return TokenKind::string;
  }

  std::string_view text_;
  std::size_t position_ = 0;
  bool first_on_line_ = true;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view text) { return Lexer(text).all(); }

}  // namespace twill::frontend::ttgir
