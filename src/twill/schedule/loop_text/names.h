#pragma once

#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "twill/schedule/loop_text/line.h"

namespace twill::schedule {

/// Names of one table of a `.loop` text, with the place of each declaration. The views point into
/// the text. A repeated name keeps its first meaning; pose reports the repetition.
class LoopNames {
 public:
  /// `kind` is the word that declares a name of this table: "unit", "op".
  explicit LoopNames(std::string_view kind) : kind_(kind) {}

  void declare(const Token& name, int line);
  /// Reads a name of this table and returns its index.
  Result<std::size_t> read(LoopLine& line) const;
  /// Words around a name of another table: one word before the name, one between name and cycles.
  struct OtherAlternative {
    std::string_view before;
    std::string_view between;
  };
  /// Reads a name of this table. Where a name of `other` stands there by mistake, the message has a
  /// hint.
  Result<std::size_t> read(LoopLine& line, const LoopNames& other,
                           OtherAlternative alternative) const;
  bool contains(std::string_view name) const { return index_.contains(name); }

  std::size_t size() const { return names_.size(); }
  std::string_view name(std::size_t index) const { return names_[index]; }
  int line(std::size_t index) const { return lines_[index]; }
  int column(std::size_t index) const { return columns_[index]; }

 private:
  std::string_view kind_;
  std::vector<std::string_view> names_;
  std::vector<int> lines_;
  std::vector<int> columns_;
  std::unordered_map<std::string_view, std::size_t> index_;
};

}  // namespace twill::schedule
