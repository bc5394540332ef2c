#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "twill/problem/ops.h"
#include "twill/schedule/order.h"
#include "twill/schedule/schedule.h"
#include "twill/support/diagnostic.h"

/// `.loop`, the small text form of a Problem, optionally with a Schedule or an Order to check.
/// Format for authors: docs/reference/loop-format.md.
namespace twill::schedule {

/// Blank line, comment line or trailing comment, kept so that a canonical text is printed with the
/// same bytes.
struct Remark {
  std::size_t statement = 0;  ///< index of the canonical statement that follows, or on whose line a
                              ///< trailing remark stands; number of statements for remarks at the
                              ///< end
  bool trailing = false;      ///< on the line of that statement
  std::string text;           ///< including its leading blanks; empty for a blank line
  friend bool operator==(const Remark&, const Remark&) = default;
};

struct LoopText {
  problem::Problem problem;
  std::optional<Schedule> schedule;  ///< every op placed; no rule checked
  std::optional<Order> order;        ///< every op in one group's sequence; no rule checked
  std::vector<Remark> remarks;       ///< by statement, a trailing one last
  int order_line = 0;                ///< line of the order in the text that was read; else 0
};

/// Makes a LoopText with a blank line between its sections and no comments.
LoopText loop_text_of(problem::Problem problem, std::optional<Schedule> schedule = {},
                      std::optional<Order> order = {});

/// Reads a `.loop` text. `file` names the text in messages. Fails at the first error, with line,
/// column and the line itself. Cost: linear in the text.
Result<LoopText> parse_loop(std::string_view text, const std::string& file);

/// Prints the canonical text: statements in a fixed order, one blank between words, defaults left
/// out. parse_loop gives back an equal value, and printing a parsed canonical text gives the same
/// bytes. Precondition: sizes, groups and alternatives of the schedule and order fit the Problem.
std::string print_loop(const LoopText& loop);

/// SHA-256, in hexadecimal, of the canonical text of the Problem alone, without blank lines. Equal
/// Problems have equal hashes, whatever the layout and comments of their files.
std::string problem_hash(const problem::Problem& problem);

}  // namespace twill::schedule
