#include "twill/schedule/loop_text/line.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>
#include <utility>

#include "twill/support/spelling.h"

namespace twill::schedule {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '.'; }
bool is_mark(char c) { return c == ':' || c == '@' || c == '[' || c == ']'; }

/// Finds the end of the word that begins at `at`. A '-' belongs to the word if another letter
/// follows, so that "in-place" is one word and "S->P" three tokens.
std::size_t end_of_word(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const bool inner_hyphen = text[at] == '-' && at + 1 < text.size() && is_word(text[at + 1]);
    if (!is_word(text[at]) && !inner_hyphen) break;
    ++at;
  }
  return at;
}

/// Position behind the closing quote, or npos.
std::size_t end_of_text(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '"') return at + 1;
    if (text[at] == '\\') ++at;
  }
  return std::string_view::npos;
}

int hexadecimal(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Character of an escape, or -1 for an unknown escape. `at` is behind the backslash and moves past
/// the escape.
int unescape(std::string_view text, std::size_t& at) {
  const char c = text[at++];
  if (c == '"' || c == '\\') return c;
  if (c == 'n') return '\n';
  if (c == 't') return '\t';
  if (c != 'x' || at + 2 > text.size()) return -1;
  const int high = hexadecimal(text[at]);
  const int low = hexadecimal(text[at + 1]);
  at += 2;
  return high < 0 || low < 0 ? -1 : 16 * high + low;
}

}  // namespace

LoopLine::LoopLine(const std::string& file, std::string_view text, int number)
    : file_(file), text_(text), number_(number) {
  scan();
}

void LoopLine::scan() {
  std::size_t at = next_;
  while (at < text_.size() && is_blank(text_[at])) ++at;
  std::size_t end = at;
  TokenKind kind = TokenKind::wrong;
  if (at == text_.size() || text_[at] == '#') {
    kind = TokenKind::end;
  } else if (is_letter(text_[at])) {
    kind = TokenKind::word;
    end = end_of_word(text_, at);
  } else if (is_digit(text_[at])) {
    while (end < text_.size() && is_digit(text_[end])) ++end;
    kind = end_of_word(text_, end) == end ? TokenKind::number : TokenKind::wrong;
  } else if (text_[at] == '"') {
    end = end_of_text(text_, at);
    if (end != std::string_view::npos) kind = TokenKind::text;
  } else if (text_.substr(at, 2) == "->") {
    kind = TokenKind::arrow;
    end = at + 2;
  } else if (is_mark(text_[at])) {
    kind = TokenKind::mark;
    end = at + 1;
  }
  if (kind == TokenKind::wrong) {
    end = std::min(text_.find_first_of(" \t#", at + 1), text_.size());
  }
  token_ = {kind, text_.substr(at, end - at), static_cast<int>(at) + 1};
  next_ = end;
}

Token LoopLine::take() {
  const Token taken = token_;
  if (taken.kind != TokenKind::end) {
    taken_ = next_;
    scan();
  }
  return taken;
}

bool LoopLine::accept(std::string_view mark) {
  if (token_.kind != TokenKind::mark || token_.spelling != mark) return false;
  take();
  return true;
}

Result<Token> LoopLine::word(std::string_view what) {
  if (token_.kind != TokenKind::word) return expected(what);
  return take();
}

Result<std::int64_t> LoopLine::number(std::string_view what, std::int64_t least,
                                      std::int64_t most) {
  if (token_.kind != TokenKind::number) return expected(what);
  std::int64_t value = 0;
  const char* end = token_.spelling.data() + token_.spelling.size();
  const auto read = std::from_chars(token_.spelling.data(), end, value);
  if (read.ec != std::errc() || value > most || value < least) {
    return fail_at(token_.column,
                   std::string(what) + " is " + in_quotes(token_.spelling) + ", out of range",
                   "it must be between " + std::to_string(least) + " and " + std::to_string(most));
  }
  take();
  return value;
}

Result<std::string> LoopLine::text(std::string_view what) {
  if (token_.kind != TokenKind::text) {
    return expected(what, token_.spelling.starts_with('"') ? "the closing quote is missing"
                                                           : "write it in double quotes");
  }
  const std::string_view inner = token_.spelling.substr(1, token_.spelling.size() - 2);
  std::string value;
  for (std::size_t at = 0; at < inner.size();) {
    if (inner[at] != '\\') {
      value += inner[at++];
      continue;
    }
    const int column = token_.column + 1 + static_cast<int>(at);
    const int c = unescape(inner, ++at);
    if (c < 0) {
      return fail_at(column, "unknown escape in a quoted text",
                     R"(the escapes are \" \\ \n \t and \x followed by two hexadecimal digits)");
    }
    value += static_cast<char>(c);
  }
  take();
  return value;
}

Result<void> LoopLine::keyword(std::string_view spelling) {
  if (token_.kind != TokenKind::word || token_.spelling != spelling) {
    return expected(in_quotes(spelling));
  }
  take();
  return {};
}

Result<std::size_t> LoopLine::one_of(std::string_view what,
                                     std::span<const std::string_view> words) {
  if (token_.kind != TokenKind::word) return expected(what);
  const auto found = std::find(words.begin(), words.end(), token_.spelling);
  if (found == words.end()) {
    std::string hint = did_you_mean(token_.spelling, words);
    if (hint.empty()) {
      hint = "one of:";
      for (const std::string_view word : words) hint.append(" ").append(word);
    }
    return expected(what, std::move(hint));
  }
  take();
  return static_cast<std::size_t>(found - words.begin());
}

Result<void> LoopLine::end() {
  if (!at_end()) return expected("the end of the line");
  return {};
}

std::string_view LoopLine::remark() const {
  const std::string_view rest = text_.substr(taken_);
  const auto first = std::find_if_not(rest.begin(), rest.end(), is_blank);
  return first == rest.end() ? std::string_view() : rest;
}

tl::unexpected<Diagnostic> LoopLine::fail_at(int column, std::string message,
                                             std::string hint) const {
  return tl::unexpected(Diagnostic{
      {file_, number_, column}, std::move(message), std::string(text_), std::move(hint)});
}

tl::unexpected<Diagnostic> LoopLine::expected(std::string_view what, std::string hint) const {
  const std::string found = at_end() ? "the end of the line" : in_quotes(token_.spelling);
  return fail_at(token_.column, "expected " + std::string(what) + ", found " + found,
                 std::move(hint));
}

Result<std::size_t> WordsOfLine::next(LoopLine& line) {
  const int column = line.peek().column;
  TWILL_TRY(const std::size_t word, line.one_of(what_, words_));
  const std::uint32_t bit = std::uint32_t{1} << word;
  const bool may_repeat = words_[word] == "uses" || words_[word] == "occupies";
  if ((seen_ & bit) != 0 && !may_repeat) {
    return line.fail_at(column, in_quotes(words_[word]) + " is said twice", "say it once");
  }
  seen_ |= bit;
  return word;
}

}  // namespace twill::schedule
