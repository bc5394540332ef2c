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
/// docs/reference/loop-format.md describes it for those who write it.
namespace twill::schedule {

/// A blank line, a comment line or a trailing comment, kept so that printing what was read gives
/// the same bytes.
struct Remark {
  std::size_t statement = 0;  ///< index of the canonical statement it precedes (or follows on the
                              ///< same line); their number for what stands at the end
  bool trailing = false;      ///< on the line of that statement
  std::string text;           ///< with its leading blanks; empty is a blank line
  friend bool operator==(const Remark&, const Remark&) = default;
};

struct LoopText {
  problem::Problem problem;
  std::optional<Schedule> schedule;  ///< every op placed; nothing else is promised
  std::optional<Order> order;        ///< every op in one group's sequence; nothing else is promised
  std::vector<Remark> remarks;       ///< by statement, a trailing one last
  int order_line = 0;                ///< of the text that was read, where the order begins; else 0
};

/// A LoopText with a blank line between its sections and no comments.
LoopText loop_text_of(problem::Problem problem, std::optional<Schedule> schedule = {},
                      std::optional<Order> order = {});

/// Reads a `.loop` text. `file` names it in messages. Fails at the first thing wrong, with line,
/// column and the line itself. Cost: linear in the text.
Result<LoopText> parse_loop(std::string_view text, const std::string& file);

/// The canonical text: statements in a fixed order, one blank between words, defaults left out.
/// parse_loop gives back an equal value, and printing a parsed canonical text the same bytes.
/// Precondition: sizes, groups and alternatives of the schedule and order fit the Problem.
std::string print_loop(const LoopText& loop);

/// SHA-256, in hexadecimal, of the canonical text of the Problem alone, without blank lines: equal
/// for equal Problems, whatever their files' layout and comments.
std::string problem_hash(const problem::Problem& problem);

}  // namespace twill::schedule
