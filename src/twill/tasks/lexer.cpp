#include "twill/tasks/lexer.h"

#include <algorithm>
#include <array>

namespace twill::tasks {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Length of a number: digits, a fraction and an exponent; without the dots of a range, `8..256`.
std::size_t number_length(std::string_view text) {
  std::size_t n = 0;
  const auto digits = [&] {
    while (n < text.size() && is_digit(text[n])) ++n;
  };
  digits();
  if (n + 1 < text.size() && text[n] == '.' && is_digit(text[n + 1])) {
    ++n;
    digits();
  }
  if (n < text.size() && (text[n] == 'e' || text[n] == 'E')) {
    std::size_t after = n + 1;
    if (after < text.size() && (text[after] == '-' || text[after] == '+')) ++after;
    if (after < text.size() && is_digit(text[after])) {
      n = after;
      digits();
    }
  }
  return n;
}

std::size_t word_length(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && (is_letter(text[n]) || is_digit(text[n]))) ++n;
  return n;
}

std::size_t sign_length(std::string_view text) {
  constexpr std::array<std::string_view, 6> kLong = {"+=", "..", "<=", ">=", "==", "!="};
  for (const std::string_view sign : kLong) {
    if (text.starts_with(sign)) return sign.size();
  }
  constexpr std::string_view kShort = "(){}[],:<>=+-*/.?";
  return kShort.find(text[0]) == std::string_view::npos ? 0 : 1;
}

constexpr std::string_view kQuotes = "\"\"\"";

}  // namespace

Result<std::vector<Token>> tokens_of(std::string_view text, const std::string& file_name) {
  std::vector<Token> tokens;
  int line = 1;
  std::size_t begin = 0;  // begin of the line
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '\n') {
      ++line;
      begin = ++at;
      continue;
    }
    if (c == ' ' || c == '\t' || c == '\r') {
      ++at;
      continue;
    }
    const std::string_view rest = text.substr(at);
    if (c == '#' || rest.starts_with("//")) {
      at = std::min(text.size(), text.find('\n', at));
      continue;
    }
    if (rest.starts_with(kQuotes)) {
      const std::size_t from = at + kQuotes.size();
      const std::size_t to = text.find(kQuotes, from);
      if (to == std::string_view::npos) return fail_at(text, at, file_name, "has no end");
      const std::string_view code = text.substr(from, to - from);
      tokens.push_back(
          {Token::Kind::code, code, at, {file_name, line, static_cast<int>(at - begin) + 1}});
      line += static_cast<int>(std::count(code.begin(), code.end(), '\n'));
      if (const std::size_t last = code.rfind('\n'); last != std::string_view::npos) {
        begin = from + last + 1;
      }
      at = to + kQuotes.size();
      continue;
    }
    const Token::Kind kind = is_letter(c)  ? Token::Kind::word
                             : is_digit(c) ? Token::Kind::number
                                           : Token::Kind::sign;
    const std::size_t length = kind == Token::Kind::word     ? word_length(rest)
                               : kind == Token::Kind::number ? number_length(rest)
                                                             : sign_length(rest);
    if (length == 0) return fail_at(text, at, file_name, "this character means nothing here");
    tokens.push_back(
        {kind, rest.substr(0, length), at, {file_name, line, static_cast<int>(at - begin) + 1}});
    at += length;
  }
  tokens.push_back({Token::Kind::end,
                    {},
                    text.size(),
                    {file_name, line, static_cast<int>(text.size() - begin) + 1}});
  return tokens;
}

}  // namespace twill::tasks
