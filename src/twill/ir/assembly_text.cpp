#include "twill/ir/assembly_text.h"

#include <algorithm>
#include <utility>

namespace twill::ir {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f');
}

/// Replaces comments, braces and escaped white space by spaces.
std::string plain(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with("//")) {
      const std::size_t end = std::min(rest.find('\n'), rest.find("\\n"));
      i += std::min(end, rest.size()) - 1;
    } else if (rest.starts_with("/*")) {
      const std::size_t end = rest.find("*/");
      i += (end == std::string_view::npos ? rest.size() : end + 2) - 1;
    } else if (rest.size() > 2 && rest[0] == '\\' && is_hex(rest[1]) && is_hex(rest[2])) {
      out += ' ';
      i += 2;
    } else if (rest.starts_with("\\n") || rest.starts_with("\\t")) {
      out += ' ';
      ++i;
    } else {
      const bool braces = rest[0] == '{' || rest[0] == '}';
      out += is_space(rest[0]) || (braces && !out.ends_with(',')) ? ' ' : rest[0];
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> assembly_statements(std::string_view text) {
  std::vector<std::string> out;
  std::string now;
  for (const char c : plain(text)) {
    if (c == ';') {
      out.push_back(std::move(now));
      now.clear();
    } else if (!is_space(c) || !now.empty()) {
      now += c;
    }
  }
  if (!now.empty()) out.push_back(std::move(now));
  return out;
}

}  // namespace twill::ir
