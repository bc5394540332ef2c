#include "twill/support/diagnostic.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace twill {

std::string to_string(const Diagnostic& diagnostic, std::string_view severity) {
  std::string out;
  const Location& at = diagnostic.location;
  if (!at.file.empty()) out += at.file + ":";
  if (at.line > 0) out += std::to_string(at.line) + ":";
  if (at.line > 0 && at.column > 0) out += std::to_string(at.column) + ":";
  if (!out.empty()) out += " ";
  out.append(severity).append(": ").append(diagnostic.message).append("\n");
  if (!diagnostic.source_line.empty()) {
    // Long lines (TTGIR has them) are shown around the column only.
    constexpr std::size_t kShown = 160;
    const auto column = static_cast<std::size_t>(std::max(at.column, 1) - 1);
    std::size_t begin = 0;
    if (diagnostic.source_line.size() > kShown && column > kShown / 2) begin = column - kShown / 2;
    begin = std::min(begin, diagnostic.source_line.size());
    std::string shown = diagnostic.source_line.substr(begin, kShown);
    std::replace_if(
        shown.begin(), shown.end(),
        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
    out += "  " + shown + "\n";
    if (at.column > 0 && column >= begin && column - begin <= shown.size()) {
      out += "  " + std::string(column - begin, ' ') + "^\n";
    }
  }
  if (!diagnostic.hint.empty()) out += "hint: " + diagnostic.hint + "\n";
  return out;
}

std::string_view line_of(std::string_view text, int line) {
  for (int at = 1; at < line; ++at) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

tl::unexpected<Diagnostic> fail(Location location, std::string message, std::string hint) {
  return tl::unexpected(
      Diagnostic{std::move(location), std::move(message), std::string(), std::move(hint)});
}

tl::unexpected<Diagnostic> fail_at(std::string_view text, std::size_t at, std::string file,
                                   std::string message) {
  const std::string_view before = text.substr(0, std::min(at, text.size()));
  const auto line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
  const std::size_t start = before.rfind('\n') + 1;  // 0 on the first line
  const auto column = static_cast<int>(before.size() - start) + 1;
  return tl::unexpected(Diagnostic{{std::move(file), line, column},
                                   std::move(message),
                                   std::string(line_of(text, line)).substr(0, 200),
                                   ""});
}

}  // namespace twill
