#include "twill/frontend/ttgir/cursor.h"

#include <algorithm>

namespace twill::frontend::ttgir {
namespace {

constexpr std::string_view kOpening = "([{<";
constexpr std::string_view kClosing = ")]}>";

/// `name` in quotes, shortened, with unprintable characters replaced.
std::string quoted(std::string_view name) {
  constexpr std::size_t kLongest = 60;
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string shown = "'";
  for (const char c : name.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F) {
      shown += c;
    } else {
      shown.append("\\x").append(1, kHex[byte >> 4U]).append(1, kHex[byte & 15U]);
    }
  }
  return shown + (name.size() <= kLongest ? "'" : "...'");
}

}  // namespace

Cursor::Cursor(std::string_view text, std::string file)
    : text_(text), file_(std::move(file)), tokens_(tokens_of(text)), line_starts_{0} {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') line_starts_.push_back(static_cast<std::uint32_t>(i + 1));
  }
}

const Token& Cursor::peek(std::size_t ahead) const {
  return tokens_[std::min(index_ + ahead, tokens_.size() - 1)];
}

Token Cursor::next() {
  const Token token = peek();
  if (index_ + 1 < tokens_.size()) ++index_;
  return token;
}

bool Cursor::at(char punctuation, std::size_t ahead) const {
  const Token& token = peek(ahead);
  return token.kind == TokenKind::punctuation && text_[token.offset] == punctuation;
}

bool Cursor::at_word(std::string_view word, std::size_t ahead) const {
  const Token& token = peek(ahead);
  return token.kind == TokenKind::identifier && text(token) == word;
}

bool Cursor::accept(char punctuation) {
  const bool there = at(punctuation);
  if (there) next();
  return there;
}

bool Cursor::accept_word(std::string_view word) {
  const bool there = at_word(word);
  if (there) next();
  return there;
}

bool Cursor::accept(TokenKind kind) {
  const bool there = at(kind);
  if (there) next();
  return there;
}

Result<Token> Cursor::expect(char punctuation, std::string_view where) {
  if (at(punctuation)) return next();
  return unexpected("'" + std::string(1, punctuation) + "' " + std::string(where));
}

Result<Token> Cursor::expect(TokenKind kind, std::string_view what) {
  if (at(kind)) return next();
  return unexpected(what);
}

Result<Token> Cursor::expect_word(std::string_view word, std::string_view where) {
  if (at_word(word)) return next();
  return unexpected("'" + std::string(word) + "' " + std::string(where));
}

std::optional<std::vector<std::int64_t>> Cursor::shape(bool before_element) {
  std::vector<std::int64_t> extents;
  std::size_t position = peek().offset;
  while (position < text_.size()) {
    std::size_t end = position;
    std::int64_t extent = 0;
    while (end < text_.size() && is_digit(text_[end])) {
      if (__builtin_mul_overflow(extent, 10, &extent) ||
          __builtin_add_overflow(extent, text_[end] - '0', &extent)) {
        return std::nullopt;
      }
      ++end;
    }
    if (end == position && text_[end] == '?') {
      extent = -1;
      ++end;
    }
    const bool more = end < text_.size() && text_[end] == 'x';
    if (end == position || (before_element && !more)) break;
    extents.push_back(extent);
    position = more ? end + 1 : end;
    if (!more) break;
  }
  resume_at(position);
  return extents;
}

std::optional<std::vector<std::int64_t>> Cursor::shape_before_element() { return shape(true); }
std::optional<std::vector<std::int64_t>> Cursor::whole_shape() { return shape(false); }

void Cursor::resume_at(std::size_t offset) {
  while (index_ + 1 < tokens_.size() && tokens_[index_].offset + tokens_[index_].length <= offset) {
    ++index_;
  }
  Token& token = tokens_[index_];
  if (token.offset >= offset || token.kind == TokenKind::error) return;
  token.length -= static_cast<std::uint32_t>(offset) - token.offset;
  token.offset = static_cast<std::uint32_t>(offset);
  token.kind = is_digit(text_[offset]) ? TokenKind::integer : TokenKind::identifier;
}

bool Cursor::skip_balanced() {
  std::string open;
  do {
    const Token token = next();
    if (token.kind == TokenKind::end || token.kind == TokenKind::error) return false;
    if (token.kind != TokenKind::punctuation) continue;
    const char c = text_[token.offset];
    if (kOpening.find(c) != std::string_view::npos) open += c;
    const std::size_t closing = kClosing.find(c);
    if (closing == std::string_view::npos) continue;
    if (open.empty() || open.back() != kOpening[closing]) return false;
    open.pop_back();
  } while (!open.empty());
  return true;
}

std::string_view Cursor::between(std::size_t index) const {
  if (index == 0) return {};
  const std::size_t start = tokens_[index - 1].offset + tokens_[index - 1].length;
  const std::string_view gap = text_.substr(start, tokens_[index].offset - start);
  if (gap.empty()) return {};
  return gap[0] == 'x' || gap[0] == '?' || is_digit(gap[0]) ? gap : std::string_view(" ");
}

bool Cursor::spaced(std::size_t index) const { return between(index) == " "; }

std::string Cursor::normalized(std::size_t first, std::size_t last) const {
  std::string result;
  for (std::size_t i = first; i < last; ++i) {
    if (i > first) result += between(i);
    result += text(tokens_[i]);
  }
  return result;
}

Location Cursor::location(const Token& token) const {
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), token.offset);
  const auto line = after - line_starts_.begin();
  const std::uint32_t start = line_starts_[static_cast<std::size_t>(line - 1)];
  return {file_, static_cast<int>(line), static_cast<int>(token.offset - start) + 1};
}

tl::unexpected<Diagnostic> Cursor::unexpected(std::string_view expected) const {
  const Token& token = peek();
  if (token.kind == TokenKind::end) {
    return fail(token, "the text ends where " + std::string(expected) + " is expected",
                "is the file complete?");
  }
  if (token.kind == TokenKind::error) {
    const bool is_string = text(token).find('"') != std::string_view::npos;
    return fail(token, is_string ? "this string does not end on its line"
                                 : quoted(text(token)) + " is no token of MLIR");
  }
  return fail(token, "expected " + std::string(expected) + ", found " + quoted(text(token)));
}

tl::unexpected<Diagnostic> Cursor::too_deep() {
  is_too_deep_ = true;
  return fail(peek(), "this is nested more than 200 levels deep");
}

tl::unexpected<Diagnostic> Cursor::fail(const Token& token, std::string message,
                                        std::string hint) const {
  Location where = location(token);
  const auto line = static_cast<std::size_t>(where.line);
  const std::size_t start = line_starts_[line - 1];
  const std::size_t end = line < line_starts_.size() ? line_starts_[line] - 1 : text_.size();
  std::string_view source = text_.substr(start, end - start);
  if (!source.empty() && source.back() == '\r') source.remove_suffix(1);
  return tl::unexpected(
      Diagnostic{std::move(where), std::move(message), std::string(source), std::move(hint)});
}

}  // namespace twill::frontend::ttgir
