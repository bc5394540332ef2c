#pragma once

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "twill/support/spelling.h"
#include "twill/tasks/lexer.h"
#include "twill/tasks/values.h"

/// Internal to the text form: a reader's place in the text, and parts that all readers read.
namespace twill::tasks {

/// Deepest nesting of brackets in brackets, and of ranges in ranges.
inline constexpr int kDeepest = 64;

class Cursor {
 public:
  Cursor(std::string_view text, std::vector<Token> tokens)
      : text_(text), tokens_(std::move(tokens)) {}

  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(next_ + ahead, tokens_.size() - 1)];
  }
  bool is(std::string_view what, std::size_t ahead = 0) const {
    const Token::Kind kind = peek(ahead).kind;
    return kind != Token::Kind::end && kind != Token::Kind::code && peek(ahead).text == what;
  }
  bool take(std::string_view what) {
    const bool found = is(what);
    if (found) ++next_;
    return found;
  }
  Where here() const { return {peek().location}; }

  tl::unexpected<Diagnostic> wrong(const Token& token, std::string message,
                                   std::string hint = {}) const {
    Diagnostic diagnostic{token.location, std::move(message),
                          std::string(line_of(text_, token.location.line)), std::move(hint)};
    return tl::unexpected(std::move(diagnostic));
  }
  tl::unexpected<Diagnostic> unexpected(const std::string& wanted) const {
    const bool ended = peek().kind == Token::Kind::end;
    return wrong(peek(), "expected " + wanted + ", not " +
                             (ended ? std::string("the end") : in_quotes(peek().text)));
  }

  Result<void> expect(std::string_view what) {
    if (take(what)) return {};
    return unexpected("'" + std::string(what) + "'");
  }
  Result<std::string> word(const char* what) {
    if (peek().kind != Token::Kind::word) return unexpected(what);
    return std::string(tokens_[next_++].text);
  }
  Result<std::int64_t> whole_number() {
    const Token& token = peek();
    std::int64_t value = 0;
    const char* end = token.text.data() + token.text.size();
    if (token.kind != Token::Kind::number) return unexpected("a whole number");
    const auto [rest, error] = std::from_chars(token.text.data(), end, value);
    if (error != std::errc() || rest != end)
      return wrong(token, in_quotes(token.text) + " is no whole number of 64 bits");
    ++next_;
    return value;
  }
  Result<double> number() {
    const Token& token = peek();
    double value = 0;
    const char* end = token.text.data() + token.text.size();
    const auto [rest, error] = std::from_chars(token.text.data(), end, value);
    if (error != std::errc() || rest != end)
      return wrong(token, in_quotes(token.text) + " is no number of 64 bits");
    ++next_;
    return value;
  }
  Result<Scalar> scalar() {
    const auto found = scalar_named(peek().text);
    if (!found) return unexpected("'f16', 'bf16', 'f32', 'f8e4m3', 'f8e5m2', 'i8' or 'i32'");
    ++next_;
    return *found;
  }

  /// Counts one level of nesting during its lifetime. Readers that call themselves check the depth.
  struct Deeper {
    explicit Deeper(Cursor& cursor) : depth(cursor.depth_) { ++depth; }
    ~Deeper() { --depth; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    int& depth;
  };
  Result<void> check_depth() const {
    if (depth_ <= kDeepest) return {};
    return wrong(peek(), "is nested too deep");
  }
  Result<Size> size();
  /// Reads SIZE, SIZE ... including `close`.
  Result<std::vector<Size>> sizes(std::string_view close);

  /// Reads code between triple quotes.
  Result<std::string> code() {
    if (peek().kind != Token::Kind::code) {
      return unexpected("CUDA C++ between triple quotes");
    }
    return std::string(next());
  }

  /// Takes the next token.
  std::string_view next() { return tokens_[next_++].text; }

 private:
  Result<Size> size_product();
  Result<Size> size_primary();
  Result<void> count_terms();

  std::string_view text_;
  std::vector<Token> tokens_;
  std::size_t next_ = 0;
  std::size_t terms_ = 0;
  int depth_ = 0;
};

}  // namespace twill::tasks
