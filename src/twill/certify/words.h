#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "twill/problem/ops.h"
#include "twill/schedule/schedule.h"
#include "twill/support/diagnostic.h"

namespace twill::certify {

/// Largest number that a certificate may have: sums of many stay far below 2^63.
inline constexpr std::int64_t kLargest = std::int64_t{1} << 40;

/// Reads a text line by line, each line as words with single or more blanks between them.
class WordReader {
 public:
  WordReader(std::string_view text, std::string file) : rest_(text), file_(std::move(file)) {}

  /// Goes to the next line that is not empty; returns false at the end of the text.
  bool next_line();
  int line() const { return number_; }

  /// Takes the next word of the line; empty at its end.
  std::string_view word();
  bool at_end();
  /// Takes the next word as a whole number between the two limits.
  Result<std::int64_t> number(std::int64_t least, std::int64_t most);
  /// Fails if there is another word on the line.
  Result<void> finish();

  tl::unexpected<Diagnostic> fail(std::string message) const;

 private:
  std::string_view rest_;
  std::string_view whole_;  ///< the whole line of the text
  std::string_view left_;   ///< its unread rest
  std::string file_;
  int number_ = 0;
};

/// Takes the next word as a verdict.
Result<schedule::Verdict> verdict_in(WordReader& in);

/// Finds ops, groups and memories by name. The Problem outlives it.
class Names {
 public:
  explicit Names(const problem::Problem& problem);

  Result<std::size_t> op(WordReader& in) const { return find(in, ops_, "op"); }
  Result<std::size_t> group(WordReader& in) const { return find(in, groups_, "group"); }
  Result<std::size_t> memory(WordReader& in) const { return find(in, memories_, "memory"); }
  Result<std::size_t> unit(WordReader& in) const { return find(in, units_, "unit"); }
  Result<std::size_t> pipe(WordReader& in) const { return find(in, pipes_, "pipe"); }
  /// Takes ops up to the end of the line.
  Result<std::vector<std::size_t>> ops(WordReader& in) const;
  /// Takes pairs of ops up to the end of the line.
  Result<std::vector<std::pair<std::size_t, std::size_t>>> pairs(WordReader& in) const;

 private:
  using Table = std::map<std::string, std::size_t, std::less<>>;
  static Result<std::size_t> find(WordReader& in, const Table& table, std::string_view kind);

  Table ops_;
  Table groups_;
  Table memories_;
  Table units_;
  Table pipes_;
};

/// Takes the words up to the end of the line, with single blanks between them.
std::string rest_of(WordReader& in);

/// Reads the first line, "WORD VERSION". Fails for another word; for another version with a hint.
Result<void> read_heading(WordReader& in, std::string_view word, std::int64_t version);

/// Quotes a name or number of the text for a message: shortened, without control characters.
std::string quoted(std::string_view word);

}  // namespace twill::certify
