#include "twill/support/text_table.h"

#include <algorithm>
#include <utility>

#include "twill/support/check.h"

namespace twill {

TextTable::TextTable(std::vector<Align> columns, std::size_t indent)
    : columns_(std::move(columns)), indent_(indent) {}

void TextTable::add(std::vector<std::string> cells) {
  TWILL_CHECK(cells.size() <= columns_.size(), "a row has more cells than the table has columns");
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::to_string() const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line(indent_, ' ');
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - row[i].size(), ' ');
      if (columns_[i] == Align::right) line += blanks;
      line += row[i];
      if (columns_[i] == Align::left) line += blanks;
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string wrap(std::string_view text, std::size_t width, std::string_view first,
                 std::string_view rest) {
  std::string out;
  std::string line(first);
  bool empty = true;  // nothing but the prefix on this line yet
  while (!text.empty()) {
    const std::size_t start = text.find_first_not_of(' ');
    if (start == std::string_view::npos) break;
    text.remove_prefix(start);
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    if (!empty && line.size() + 1 + word.size() > width) {
      out += line + "\n";
      line = rest;
      empty = true;
    }
    if (!empty) line += ' ';
    line += word;
    empty = false;
  }
  return out + line + "\n";
}

std::string as_comment(std::string_view lines) {
  std::string out;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    out += "// ";
    out += lines.substr(at, end - at);
    out += "\n";
    at = end + 1;
  }
  return out;
}

}  // namespace twill
