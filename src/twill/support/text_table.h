#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace twill {

/// Columns of plain text, as wide as their widest cell, two blanks apart. Cells are ASCII.
class TextTable {
 public:
  enum class Align { left, right };

  /// One alignment per column; `indent` blanks come before each line.
  explicit TextTable(std::vector<Align> columns, std::size_t indent = 0);

  /// Appends a row. Missing cells are empty; more cells than columns is our bug.
  void add(std::vector<std::string> cells);

  /// All rows, each ended by a newline and without trailing blanks.
  std::string to_string() const;

 private:
  std::vector<Align> columns_;
  std::size_t indent_;
  std::vector<std::vector<std::string>> rows_;
};

/// `text` broken at blanks into lines of at most `width` characters; the first starts with
/// `first` and the others with `rest`, which count for the width. Each line ends in a newline.
std::string wrap(std::string_view text, std::size_t width, std::string_view first,
                 std::string_view rest);

/// Each line of `lines` behind "// ", as C++ and MLIR write comments.
std::string as_comment(std::string_view lines);

}  // namespace twill
