#include "twill/frontend/ttgir/source_of_line.h"

#include "twill/frontend/ttgir/lexer.h"
#include "twill/support/diagnostic.h"

namespace twill::frontend::ttgir {
namespace {

constexpr int kDeepestPlace = 64;  ///< most aliases and callers followed to a place

bool is_alias_char(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Text after `loc(` in the definition of an alias such as "#loc7"; empty without a definition.
std::string_view definition_of(std::string_view alias, std::string_view text) {
  const std::string wanted = std::string(alias) + " = loc(";
  for (std::size_t at = text.find(wanted); at != std::string_view::npos;
       at = text.find(wanted, at + 1)) {
    if (at == 0 || text[at - 1] == '\n') return text.substr(at + wanted.size());
  }
  return {};
}

/// Place that begins with a string: a file with a line, or a name for another place.
std::optional<std::string> quoted_place(std::string_view& place) {
  const std::size_t end = place.find('"', 1);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view name = place.substr(1, end - 1);
  place = place.substr(end + 1);
  if (!place.starts_with(':')) return std::nullopt;
  std::size_t digits = 1;
  while (digits < place.size() && is_digit(place[digits])) ++digits;
  const std::string_view file = name.substr(name.find_last_of('/') + 1);
  return std::string(file) + std::string(place.substr(0, digits));
}

std::optional<std::string> resolved(std::string_view place, std::string_view text) {
  for (int depth = 0; depth < kDeepestPlace && !place.empty(); ++depth) {
    if (place.starts_with('#')) {
      std::size_t end = 1;
      while (end < place.size() && is_alias_char(place[end])) ++end;
      place = definition_of(place.substr(0, end), text);
    } else if (place.starts_with("callsite(")) {
      const std::size_t caller = place.find(" at ");
      if (caller == std::string_view::npos) return std::nullopt;
      place = place.substr(caller + 4);
    } else if (place.starts_with("fused")) {
      const std::size_t first = place.find('[');
      if (first == std::string_view::npos) return std::nullopt;
      place = place.substr(first + 1);
    } else if (place.starts_with('"')) {
      if (auto found = quoted_place(place)) return found;
      if (!place.starts_with('(')) return std::nullopt;
      place = place.substr(1);
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> source_of_line(std::string_view text, int line) {
  if (line < 1) return std::nullopt;
  const std::string_view content = line_of(text, line);
  const std::size_t last = content.rfind("loc(");
  if (last == std::string_view::npos) return std::nullopt;
  return resolved(content.substr(last + 4), text);
}

std::string with_source(std::string message, std::string_view text, int line) {
  if (line < 1 || message.find(".py:") != std::string::npos) return message;
  const auto source = source_of_line(text, line);
  if (source) message += " (" + *source + " of the source)";
  return message;
}

}  // namespace twill::frontend::ttgir
