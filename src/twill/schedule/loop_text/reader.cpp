#include <algorithm>
#include <compare>
#include <utility>

#include "twill/schedule/loop_text.h"
#include "twill/schedule/loop_text/line.h"
#include "twill/schedule/loop_text/problem_reader.h"
#include "twill/schedule/loop_text/schedule_reader.h"
#include "twill/schedule/loop_text/statements.h"

namespace twill::schedule {
namespace {

/// Limit on lines, above those of the largest loop; blank lines and comments cost memory.
constexpr int kMostLines = 1'000'000;

/// Remark whose place in the canonical text is not known yet.
struct FoundRemark {
  std::optional<Position> position;  ///< place of its statement; empty at the end of the text
  bool trailing = false;
  std::string_view text;
};

/// Takes one line off the front of `text`, without the line's end.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

class LoopReader {
 public:
  LoopReader(std::string_view text, const std::string& file)
      : text_(text), file_(file), problem_reader_(text, file) {}

  Result<LoopText> read();

 private:
  Result<void> read_line(std::string_view line);
  Result<Position> read_statement(LoopLine& line);
  Result<void> finish_problem();
  std::vector<Remark> placed_remarks(const LoopText& loop) const;

  std::string_view text_;
  const std::string& file_;
  int line_number_ = 0;
  LoopProblemReader problem_reader_;
  std::optional<problem::Problem> problem_;  ///< set once its statements are over
  std::optional<LoopScheduleReader> schedule_reader_;
  std::vector<FoundRemark> remarks_;
  std::size_t pending_ = 0;  ///< first remark that waits for the next statement
};

Result<LoopText> LoopReader::read() {
  for (std::string_view rest = text_; !rest.empty();) {
    TWILL_TRY_VOID(read_line(take_line(rest)));
  }
  TWILL_TRY_VOID(finish_problem());
  TWILL_TRY_VOID(schedule_reader_->check_complete());
  LoopText loop{*problem_, schedule_reader_->schedule(), schedule_reader_->order(), {}};
  loop.remarks = placed_remarks(loop);
  loop.order_line = schedule_reader_->order_line();
  return loop;
}

Result<void> LoopReader::read_line(std::string_view text) {
  LoopLine line(file_, text, ++line_number_);
  if (line_number_ > kMostLines) {
    return line.fail_at(1, "this text has more than " + std::to_string(kMostLines) + " lines");
  }
  if (line.at_end()) {
    const bool is_blank = line.remark().empty();
    remarks_.push_back({std::nullopt, false, is_blank ? std::string_view() : text});
    return {};
  }
  TWILL_TRY(const Position position, read_statement(line));
  for (; pending_ < remarks_.size(); ++pending_) remarks_[pending_].position = position;
  if (!line.remark().empty()) {
    remarks_.push_back({position, true, line.remark()});
    ++pending_;
  }
  return {};
}

Result<Position> LoopReader::read_statement(LoopLine& line) {
  if (!problem_) {
    LoopLine ahead = line;
    const std::string_view first = ahead.take().spelling;
    const bool is_dependence = ahead.peek().kind == TokenKind::arrow;
    if (is_dependence || (first != "schedule" && first != "order")) {
      return problem_reader_.read(line);
    }
    TWILL_TRY_VOID(finish_problem());
  }
  return schedule_reader_->read(line);
}

Result<void> LoopReader::finish_problem() {
  if (problem_) return {};
  TWILL_TRY(problem_, problem_reader_.finish());
  schedule_reader_.emplace(*problem_, problem_reader_);
  return {};
}

/// Places remarks in the canonical text, where statements may have moved, and statements of
/// defaults alone are missing. A remark goes with its statement, or to the statement that follows.
std::vector<Remark> LoopReader::placed_remarks(const LoopText& loop) const {
  const std::vector<Statement> statements = statements_of(loop);
  std::vector<Remark> placed;
  placed.reserve(remarks_.size());
  for (const FoundRemark& it : remarks_) {
    if (!it.position) {
      placed.push_back({statements.size(), false, std::string(it.text)});
      continue;
    }
    const auto found = std::lower_bound(
        statements.begin(), statements.end(), *it.position,
        [](const Statement& s, const Position& position) { return s.position < position; });
    const auto statement = static_cast<std::size_t>(found - statements.begin());
    const bool is_there = found != statements.end() && found->position == *it.position;
    const bool trailing = it.trailing && is_there;
    // Makes a trailing comment that lost its statement a line of its own.
    const std::string_view text =
        it.trailing && !trailing ? it.text.substr(it.text.find('#')) : it.text;
    placed.push_back({statement, trailing, std::string(text)});
  }
  std::stable_sort(placed.begin(), placed.end(), [](const Remark& a, const Remark& b) {
    return std::pair(a.statement, a.trailing) < std::pair(b.statement, b.trailing);
  });
  return placed;
}

}  // namespace

Result<LoopText> parse_loop(std::string_view text, const std::string& file) {
  return LoopReader(text, file).read();
}

}  // namespace twill::schedule
