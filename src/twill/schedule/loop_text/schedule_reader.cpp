#include "twill/schedule/loop_text/schedule_reader.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "twill/problem/transfer.h"
#include "twill/support/spelling.h"

namespace twill::schedule {

using problem::kLargestNumber;
using problem::kLargestTotal;

/// Whether a section begins: `schedule` or `order`, unless an op has that name, as in "order at 0
/// in WG0".
bool LoopScheduleReader::begins_section(const LoopLine& line) const {
  LoopLine ahead = line;
  const std::string_view first = ahead.take().spelling;
  if (section_ != Section::schedule) return first == "schedule" || first == "order";
  return (first == "order" && ahead.at_end()) ||
         (first == "schedule" && ahead.peek().spelling == "interval");
}

Result<Position> LoopScheduleReader::read(LoopLine& line) {
  TWILL_TRY(const Position position, read_statement(line));
  TWILL_TRY_VOID(line.end());
  return position;
}

Result<Position> LoopScheduleReader::read_statement(LoopLine& line) {
  if (begins_section(line)) {
    return line.take().spelling == "order" ? read_order_header(line) : read_schedule_header(line);
  }
  return section_ == Section::schedule ? read_placement(line) : read_sequence(line);
}

Result<Position> LoopScheduleReader::read_schedule_header(LoopLine& line) {
  if (schedule_line_) return line.fail_at(1, "a second schedule", "a file holds at most one");
  TWILL_TRY_VOID(line.keyword("interval"));
  TWILL_TRY(interval_, line.number("the initiation interval", 1, kLargestTotal));
  schedule_line_.emplace(line);
  section_ = Section::schedule;
  placements_.resize(problem_.ops().size());
  return Position{Section::schedule};
}

Result<Position> LoopScheduleReader::read_order_header(LoopLine& line) {
  if (order_line_) return line.fail_at(1, "a second order", "a file holds at most one");
  order_line_.emplace(line);
  section_ = Section::order;
  steps_.resize(problem_.ops().size());
  order_.groups.resize(problem_.groups().size());
  order_.units.resize(problem_.units().size());
  return Position{Section::order};
}

Result<Position> LoopScheduleReader::read_placement(LoopLine& line) {
  const int column = line.peek().column;
  TWILL_TRY(const std::size_t op, names_.ops().read(line));
  if (placements_[op]) {
    return line.fail_at(column, "op " + in_quotes(problem_.ops()[op].name) + " is placed twice",
                        "the schedule gives the one iteration 0: each op once");
  }
  TWILL_TRY_VOID(line.keyword("at"));
  TWILL_TRY(const Cycles issue, line.number("the issue cycle", 0, kLargestIssue));
  TWILL_TRY_VOID(line.keyword("in"));
  TWILL_TRY(const std::size_t group, names_.groups().read(line));
  int alternative = 0;
  if (problem_.ops()[op].alternatives.size() > 1) {
    const bool before = line.peek().spelling == "way";  // spelling of older texts
    TWILL_TRY_VOID(line.keyword(before ? "way" : "alternative"));
    TWILL_TRY(alternative, read_alternative(line, OpId(op)));
  }
  placements_[op] = Placement{issue, GroupId(group), alternative};
  while (!line.at_end()) {
    TWILL_TRY_VOID(read_offset(line, OpId(op)));
  }
  return Position{Section::schedule, 1 + op};
}

/// Reads "offset SMEM 1024", for a memory that the value of the op occupies.
Result<void> LoopScheduleReader::read_offset(LoopLine& line, OpId op) {
  TWILL_TRY_VOID(line.keyword("offset"));
  const int column = line.peek().column;
  TWILL_TRY(const std::size_t index, names_.memories().read(line));
  const MemoryId memory(index);
  const auto& footprint = problem_[op].footprint;
  const bool occupies = std::any_of(footprint.begin(), footprint.end(),
                                    [&](const auto& it) { return it.memory == memory; });
  if (!occupies) {
    return line.fail_at(
        column,
        "op " + in_quotes(problem_[op].name) + " occupies no " + in_quotes(problem_[memory].name),
        "give offsets in memories that its result occupies");
  }
  const auto taken = [&](const Address& it) { return it.value == op && it.memory == memory; };
  if (std::any_of(addresses_.begin(), addresses_.end(), taken)) {
    return line.fail_at(column, "a second offset in " + in_quotes(problem_[memory].name),
                        "all copies lie next to each other, from one offset on");
  }
  TWILL_TRY(const Amount offset, line.number("the offset", 0, kLargestNumber));
  addresses_.push_back({op, memory, offset});
  return {};
}

Result<int> LoopScheduleReader::read_alternative(LoopLine& line, OpId op) const {
  std::vector<std::string_view> names;
  for (const problem::Alternative& alternative : problem_[op].alternatives)
    names.push_back(alternative.name);
  TWILL_TRY(const std::size_t alternative,
            line.one_of("an alternative of op " + in_quotes(problem_[op].name), names));
  return static_cast<int>(alternative);
}

Result<Position> LoopScheduleReader::read_sequence(LoopLine& line) {
  static constexpr std::array<std::string_view, 2> kWords = {"group", "unit"};
  TWILL_TRY(const std::size_t word, line.one_of("a sequence of the order", kWords));
  const bool is_group = kWords[word] == "group";
  const int column = line.peek().column;
  TWILL_TRY(const std::size_t index,
            is_group ? names_.groups().read(line) : names_.units().read(line));
  const std::vector<OpId>& listed = is_group ? order_.groups[index] : order_.units[index];
  if (!listed.empty()) {
    return line.fail_at(column, std::string(kWords[word]) + " has a second sequence",
                        "list its ops on one line");
  }
  if (!line.accept(":")) return line.expected("':'");
  do {
    if (is_group) {
      TWILL_TRY_VOID(read_step(line, GroupId(index)));
    } else {
      TWILL_TRY(const std::size_t op, names_.ops().read(line));
      order_.units[index].emplace_back(op);
    }
  } while (!line.at_end());
  return Position{Section::order, 1 + index + (is_group ? 0 : order_.groups.size())};
}

Result<void> LoopScheduleReader::read_step(LoopLine& line, GroupId group) {
  const int column = line.peek().column;
  TWILL_TRY(const std::size_t op, names_.ops().read(line));
  if (steps_[op]) {
    return line.fail_at(column, "op " + in_quotes(problem_.ops()[op].name) + " is ordered twice",
                        "each op stands once, in the sequence of one group");
  }
  Step step{0, group, 0};
  if (line.accept("[")) {
    TWILL_TRY(step.alternative, read_alternative(line, OpId(op)));
    if (!line.accept("]")) return line.expected("']'");
  }
  if (line.accept("@")) {
    TWILL_TRY(const std::int64_t stage, line.number("the stage", 0, kLargestStage));
    step.stage = static_cast<int>(stage);
  }
  steps_[op] = step;
  order_.groups[group.index()].emplace_back(op);
  return {};
}

/// Checks that every op is placed. Transfer ops may be missing: then they do not exist in the
/// schedule or order.
Result<void> LoopScheduleReader::check_complete() const {
  const auto transfer_ops = problem::transfer_ops_of(problem_);
  for (std::size_t op = 0; op < placements_.size(); ++op) {
    if (placements_[op] || transfer_ops[op]) continue;
    const std::string& name = problem_.ops()[op].name;
    return schedule_line_->fail_at(1, "the schedule does not place op " + in_quotes(name),
                                   "add a line '" + name + " at CYCLE in GROUP'");
  }
  for (std::size_t op = 0; op < steps_.size(); ++op) {
    if (steps_[op] || transfer_ops[op]) continue;
    return order_line_->fail_at(1, "the order leaves out op " + in_quotes(problem_.ops()[op].name),
                                "add it to the line of the group that runs it");
  }
  return {};
}

std::optional<Schedule> LoopScheduleReader::schedule() const {
  if (!schedule_line_) return std::nullopt;
  Schedule schedule{interval_, {}};
  Placement missing;
  missing.exists = false;
  for (const std::optional<Placement>& it : placements_) {
    schedule.ops.push_back(it.value_or(missing));
  }
  schedule.addresses = addresses_;
  std::sort(schedule.addresses.begin(), schedule.addresses.end(), comes_before);
  return at_home(problem_, std::move(schedule));
}

std::optional<Order> LoopScheduleReader::order() const {
  if (!order_line_) return std::nullopt;
  Order order = order_;
  const auto transfer_ops = problem::transfer_ops_of(problem_);
  for (std::size_t op = 0; op < steps_.size(); ++op) {
    // Gives a transfer op that does not exist the group and stage of its op; no sequence names it.
    order.ops.push_back(steps_[op] ? *steps_[op] : *steps_[transfer_ops[op]->home.index()]);
    if (!steps_[op]) order.ops.back().alternative = 0;
  }
  return order;
}

}  // namespace twill::schedule
