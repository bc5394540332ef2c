#include "twill/schedule/loop_text/problem_reader.h"

#include <algorithm>
#include <array>
#include <utility>

#include "twill/support/spelling.h"

namespace twill::schedule {
namespace {

using problem::kLargestNumber;

// Words of a line, in the order of the switches that read them.
constexpr std::array<std::string_view, 3> kGroupWords = {"warps", "registers", "loads"};
constexpr std::array<std::string_view, 3> kBudgetWords = {"step", "reserve", "of"};
constexpr std::array<std::string_view, 4> kAlternativeWords = {"on", "latency", "issue", "uses"};
constexpr std::array<std::string_view, 10> kOpWords = {
    "on",    "latency",          "issue",    "uses", "warps", "registers", "occupies",
    "async", "variable-latency", "streaming"};
constexpr std::array<std::string_view, 8> kDependenceWords = {
    "distance",  "delay",    "blocking", "order-only",
    "read-hold", "in-place", "transfer", "through-memory"};

}  // namespace

Result<Position> LoopProblemReader::read(LoopLine& line) {
  LoopLine ahead = line;
  ahead.take();
  const bool is_dependence = ahead.peek().kind == TokenKind::arrow;
  if (loops_.size() == 0 && (is_dependence || line.peek().spelling != "loop")) {
    return line.expected("'loop NAME'", "a .loop text begins with the name of the loop");
  }
  TWILL_TRY(const Position position, is_dependence ? read_dependence(line) : read_statement(line));
  TWILL_TRY_VOID(line.end());
  in_op_ = position.section == Section::op;
  return position;
}

Result<Position> LoopProblemReader::read_statement(LoopLine& line) {
  using Reader = Result<Position> (LoopProblemReader::*)(LoopLine&);
  static constexpr std::array<std::string_view, 16> kWords = {
      "loop",        "relax",
      "minimize",    "minimum-compute-groups",
      "unit",        "pipe",
      "memory",      "group",
      "op",          "source",
      "alternative", "same-group",
      "transfer",    "register-budget",
      "schedule",    "order"};
  static constexpr std::array<Reader, 14> kReaders = {
      &LoopProblemReader::read_loop,        &LoopProblemReader::read_relax,
      &LoopProblemReader::read_minimize,    &LoopProblemReader::read_minimum_compute_groups,
      &LoopProblemReader::read_unit,        &LoopProblemReader::read_pipe,
      &LoopProblemReader::read_memory,      &LoopProblemReader::read_group,
      &LoopProblemReader::read_op,          &LoopProblemReader::read_source,
      &LoopProblemReader::read_alternative, &LoopProblemReader::read_same_group,
      &LoopProblemReader::read_transfer,    &LoopProblemReader::read_register_budget};
  const Token first = line.peek();
  if (ops_.contains(first.spelling)) {
    const bool is_word = std::find(kWords.begin(), kWords.end(), first.spelling) != kWords.end();
    if (!is_word) {
      line.take();
      return line.expected("'->'", "a dependence is written 'A -> B'");
    }
  }
  if (first.spelling == "way" || first.spelling == "hand-off") {  // spellings of older texts
    line.take();
    return first.spelling == "way" ? read_alternative(line) : read_transfer(line);
  }
  TWILL_TRY(const std::size_t word, line.one_of("a statement", kWords));
  return (this->*kReaders[word])(line);
}

Result<void> LoopProblemReader::check_first(const LoopLine& line, Section header) {
  if (std::find(headers_.begin(), headers_.end(), header) != headers_.end()) {
    return line.fail_at(1, "this statement is already given above", "say it once");
  }
  headers_.push_back(header);
  return {};
}

Result<Position> LoopProblemReader::read_loop(LoopLine& line) {
  TWILL_TRY_VOID(check_first(line, Section::name));
  TWILL_TRY(const Token name, line.word("the name of the loop"));
  loops_.declare(name, line.number());
  parts_.name = name.spelling;
  return Position{Section::name};
}

Result<Position> LoopProblemReader::read_relax(LoopLine& line) {
  TWILL_TRY_VOID(check_first(line, Section::relax));
  std::vector<std::string_view> names;
  for (int rule = 0; rule < problem::kRuleCount; ++rule) {
    names.push_back(name_of(static_cast<problem::Rule>(rule)));
  }
  WordsOfLine words(names, "a rule");
  do {
    TWILL_TRY(const std::size_t rule, words.next(line));
    parts_.relaxed.push_back(static_cast<problem::Rule>(rule));
  } while (!line.at_end());
  std::sort(parts_.relaxed.begin(), parts_.relaxed.end());
  return Position{Section::relax};
}

Result<Position> LoopProblemReader::read_minimize(LoopLine& line) {
  using problem::Objective;
  TWILL_TRY_VOID(check_first(line, Section::minimize));
  const std::array<std::string_view, 4> names = {name_of(Objective::groups),
                                                 name_of(Objective::crossings),
                                                 name_of(Objective::length), "nothing"};
  parts_.objectives.clear();
  WordsOfLine words(names, "an objective");
  do {
    const int column = line.peek().column;
    TWILL_TRY(const std::size_t objective, words.next(line));
    if (names[objective] != "nothing") {
      parts_.objectives.push_back(static_cast<Objective>(objective));
    } else if (!parts_.objectives.empty() || !line.at_end()) {
      return line.fail_at(column, "'nothing' stands beside other objectives",
                          "write it alone or leave it out");
    }
  } while (!line.at_end());
  return Position{Section::minimize};
}

Result<Position> LoopProblemReader::read_minimum_compute_groups(LoopLine& line) {
  TWILL_TRY_VOID(check_first(line, Section::minimum_compute_groups));
  TWILL_TRY(const std::int64_t least,
            line.number("the number of groups", 0, problem::kMostOfAKind));
  parts_.minimum_compute_groups = static_cast<int>(least);
  return Position{Section::minimum_compute_groups};
}

Result<Position> LoopProblemReader::read_unit(LoopLine& line) {
  TWILL_TRY(const Token name, line.word("the name of the unit"));
  units_.declare(name, line.number());
  parts_.units.push_back({std::string(name.spelling)});
  return Position{Section::unit, parts_.units.size() - 1};
}

Result<Position> LoopProblemReader::read_pipe(LoopLine& line) {
  TWILL_TRY(const Token name, line.word("the name of the pipe"));
  pipes_.declare(name, line.number());
  const bool port = !line.at_end();
  if (port) {
    TWILL_TRY_VOID(line.keyword("port"));
  }
  parts_.pipes.push_back({std::string(name.spelling), port});
  return Position{Section::pipe, parts_.pipes.size() - 1};
}

Result<Position> LoopProblemReader::read_memory(LoopLine& line) {
  TWILL_TRY(const Token name, line.word("the name of the memory"));
  memories_.declare(name, line.number());
  TWILL_TRY_VOID(line.keyword("capacity"));
  TWILL_TRY(const Amount capacity, line.number("the capacity", 1, kLargestNumber));
  parts_.memories.push_back({std::string(name.spelling), capacity});
  return Position{Section::memory, parts_.memories.size() - 1};
}

Result<Position> LoopProblemReader::read_group(LoopLine& line) {
  TWILL_TRY(const Token name, line.word("the name of the group"));
  groups_.declare(name, line.number());
  problem::Group group{std::string(name.spelling), kDefaultWarps, 0, false};
  WordsOfLine words(kGroupWords);
  while (!line.at_end()) {
    TWILL_TRY(const std::size_t word, words.next(line));
    if (kGroupWords[word] == "loads") {
      group.loads = true;
    } else if (kGroupWords[word] == "warps") {
      TWILL_TRY(const std::int64_t warps, line.number("the number of warps", 1, kLargestNumber));
      group.warps = static_cast<int>(warps);
    } else {
      TWILL_TRY(const std::int64_t count,
                line.number("the number of registers", 0, kLargestNumber));
      group.registers = static_cast<int>(count);
    }
  }
  parts_.groups.push_back(std::move(group));
  return Position{Section::group, parts_.groups.size() - 1};
}

Result<Position> LoopProblemReader::read_register_budget(LoopLine& line) {
  problem::RegisterBudget it;
  const int column = line.peek().column;
  const auto read = [&](int& count, std::string_view what, std::int64_t least) -> Result<void> {
    TWILL_TRY(const std::int64_t number, line.number(what, least, kLargestNumber));
    count = static_cast<int>(number);
    return {};
  };
  TWILL_TRY_VOID(read(it.total, "the number of registers", 0));
  WordsOfLine words(kBudgetWords, "a property or 'of'");
  for (std::size_t word = 0;;) {
    TWILL_TRY(word, words.next(line));
    if (kBudgetWords[word] == "of") break;
    const bool is_step = kBudgetWords[word] == "step";
    TWILL_TRY_VOID(read(is_step ? it.step : it.reserve, "the number of registers", is_step));
  }
  do {
    TWILL_TRY(const std::size_t group, groups_.read(line));
    it.groups.emplace_back(group);
  } while (!line.at_end());
  std::sort(it.groups.begin(), it.groups.end());
  parts_.register_budgets.push_back(std::move(it));
  register_budgets_.push_back({file_, line.number(), column});
  return Position{Section::register_budget, parts_.register_budgets.size() - 1};
}

Result<Position> LoopProblemReader::read_op(LoopLine& line) {
  TWILL_TRY(const Token name, line.word("the name of the op"));
  OpDraft draft;
  draft.op.name = name.spelling;
  draft.op.warps = kDefaultWarps;
  WordsOfLine words(kOpWords);
  while (!line.at_end()) {
    TWILL_TRY(const std::size_t word, words.next(line));
    if (word < kAlternativeWords.size()) {
      draft.own_is_used = true;
      TWILL_TRY_VOID(read_alternative_word(line, word, draft.own));
    } else {
      TWILL_TRY_VOID(read_op_word(line, word, draft.op));
    }
  }
  if (drafts_.size() == problem::kMostOps) {
    return line.fail_at(1, "more than " + std::to_string(problem::kMostOps) + " ops");
  }
  ops_.declare(name, line.number());
  drafts_.push_back(std::move(draft));
  return Position{Section::op, drafts_.size() - 1};
}

Result<void> LoopProblemReader::read_alternative_word(LoopLine& line, std::size_t word,
                                                      AlternativeDraft& draft) {
  switch (word) {
    case 0: {
      TWILL_TRY(const std::size_t unit, units_.read(line, pipes_, {"uses ", " "}));
      TWILL_TRY_VOID(line.keyword("for"));
      TWILL_TRY(draft.alternative.occupancy,
                line.number("the number of cycles", 1, kLargestNumber));
      draft.alternative.unit = problem::UnitId(unit);
      return {};
    }
    case 1: {
      TWILL_TRY(draft.latency, line.number("the latency", 0, kLargestNumber));
      return {};
    }
    case 2: {
      TWILL_TRY(draft.issue, line.number("the number of issue cycles", 0, kLargestNumber));
      return {};
    }
    default: {
      TWILL_TRY(const std::size_t pipe, pipes_.read(line, units_, {"on ", " for "}));
      TWILL_TRY(const Cycles demand, line.number("the demand", 0, kLargestNumber));
      draft.alternative.pipes.push_back({problem::PipeId(pipe), demand});
      return {};
    }
  }
}

Result<void> LoopProblemReader::read_op_word(LoopLine& line, std::size_t word, problem::Op& op) {
  switch (word - kAlternativeWords.size()) {
    case 0: {
      TWILL_TRY(const std::int64_t warps, line.number("the number of warps", 1, kLargestNumber));
      op.warps = static_cast<int>(warps);
      return {};
    }
    case 1: {
      TWILL_TRY(const std::int64_t count,
                line.number("the number of registers", 0, kLargestNumber));
      op.registers = static_cast<int>(count);
      return {};
    }
    case 2: {
      TWILL_TRY(const std::size_t memory, memories_.read(line));
      TWILL_TRY(const Amount amount, line.number("the footprint", 0, kLargestNumber));
      op.footprint.push_back({problem::MemoryId(memory), amount});
      return {};
    }
    case 3:
      op.asynchronous = true;
      return {};
    case 4:
      op.variable_latency = true;
      return {};
    default:
      op.variable_latency = op.streaming = true;
      return {};
  }
}

Result<Position> LoopProblemReader::read_source(LoopLine& line) {
  if (!in_op_) {
    return line.fail_at(1, "a 'source' line belongs to the op above it, and there is none");
  }
  OpDraft& draft = drafts_.back();
  if (!draft.alternatives.empty()) {
    return line.fail_at(1, "a 'source' line after an 'alternative' line",
                        "put the sources of an op before its alternatives");
  }
  TWILL_TRY(std::string source, line.text("a text in double quotes"));
  draft.op.source.push_back(std::move(source));
  return Position{Section::op, drafts_.size() - 1, draft.op.source.size()};
}

Result<Position> LoopProblemReader::read_alternative(LoopLine& line) {
  if (!in_op_) {
    return line.fail_at(1, "an 'alternative' line belongs to the op above it, and there is none");
  }
  OpDraft& draft = drafts_.back();
  if (draft.own_is_used) {
    return line.fail_at(1, "op " + in_quotes(draft.op.name) + " already says how it is done",
                        "move its 'on', 'latency', 'issue' and 'uses' to 'alternative' lines");
  }
  TWILL_TRY(const Token name, line.word("the name of the alternative"));
  AlternativeDraft alternative;
  alternative.alternative.name = name.spelling;
  WordsOfLine words(kAlternativeWords);
  while (!line.at_end()) {
    TWILL_TRY(const std::size_t word, words.next(line));
    TWILL_TRY_VOID(read_alternative_word(line, word, alternative));
  }
  draft.alternatives.push_back(std::move(alternative));
  return Position{Section::op, drafts_.size() - 1,
                  draft.op.source.size() + draft.alternatives.size()};
}

Result<Position> LoopProblemReader::read_same_group(LoopLine& line) {
  std::vector<OpId> ops;
  const int column = line.peek().column;
  do {
    TWILL_TRY(const std::size_t op, ops_.read(line));
    ops.emplace_back(op);
  } while (!line.at_end());
  std::sort(ops.begin(), ops.end());
  parts_.same_group.push_back(std::move(ops));
  same_group_.push_back({file_, line.number(), column});
  return Position{Section::same_group, parts_.same_group.size() - 1};
}

Result<Position> LoopProblemReader::read_transfer(LoopLine& line) {
  problem::Transfer it;
  const int column = line.peek().column;
  const auto read = [&](OpId& id) -> Result<void> {
    TWILL_TRY(const std::size_t op, ops_.read(line));
    id = OpId(op);
    return {};
  };
  TWILL_TRY_VOID(read(it.value));
  TWILL_TRY_VOID(line.keyword("store"));
  TWILL_TRY_VOID(read(it.store));
  do {
    problem::Transfer::Load load;
    TWILL_TRY_VOID(line.keyword("load"));
    TWILL_TRY_VOID(read(load.op));
    TWILL_TRY_VOID(line.keyword("for"));
    TWILL_TRY_VOID(read(load.reader));
    it.loads.push_back(load);
  } while (!line.at_end());
  parts_.transfers.push_back(std::move(it));
  transfers_.push_back({file_, line.number(), column});
  return Position{Section::transfer, parts_.transfers.size() - 1};
}

Result<Position> LoopProblemReader::read_dependence(LoopLine& line) {
  problem::Dependence it;
  const int column = line.peek().column;
  TWILL_TRY(const std::size_t from, ops_.read(line));
  line.take();  // the arrow
  TWILL_TRY(const std::size_t to, ops_.read(line));
  it.from = OpId(from);
  it.to = OpId(to);
  WordsOfLine words(kDependenceWords);
  while (!line.at_end()) {
    TWILL_TRY(const std::size_t word, words.next(line));
    TWILL_TRY_VOID(read_dependence_word(line, word, it));
  }
  if (dependences_.size() == 10 * problem::kMostOps) {
    return line.fail_at(1, "more than " + std::to_string(10 * problem::kMostOps) + " dependences");
  }
  parts_.dependences.push_back(it);
  dependences_.push_back({file_, line.number(), column});
  return Position{Section::dependence, parts_.dependences.size() - 1};
}

Result<void> LoopProblemReader::read_dependence_word(LoopLine& line, std::size_t word,
                                                     problem::Dependence& it) {
  switch (word) {
    case 0: {
      TWILL_TRY(const std::int64_t distance,
                line.number("the distance", 0, problem::kLargestDistance));
      it.distance = static_cast<int>(distance);
      return {};
    }
    case 1: {
      TWILL_TRY(it.delay, line.number("the delay", 0, kLargestNumber));
      return {};
    }
    case 2:
    case 5:
    case 7:
      (word == 2 ? it.blocking : word == 5 ? it.in_place : it.through_memory) = true;
      return {};
    case 3:
      it.carries_value = false;
      return {};
    case 4: {
      TWILL_TRY(it.read_hold, line.number("the read hold", 0, kLargestNumber));
      return {};
    }
    default: {
      TWILL_TRY(it.transfer, line.number("the transfer", 0, kLargestNumber));
      return {};
    }
  }
}

problem::Op LoopProblemReader::finished(OpDraft draft) const {
  if (draft.alternatives.empty()) draft.alternatives.push_back(std::move(draft.own));
  problem::Op op = std::move(draft.op);
  for (AlternativeDraft& it : draft.alternatives) {
    problem::Alternative alternative = std::move(it.alternative);
    alternative.latency = it.latency.value_or(alternative.occupancy);
    alternative.issue = it.issue.value_or(default_issue(op.asynchronous, alternative.occupancy));
    std::stable_sort(alternative.pipes.begin(), alternative.pipes.end(),
                     [](const auto& a, const auto& b) { return a.pipe < b.pipe; });
    op.alternatives.push_back(std::move(alternative));
  }
  std::stable_sort(op.footprint.begin(), op.footprint.end(),
                   [](const auto& a, const auto& b) { return a.memory < b.memory; });
  return op;
}

Location LoopProblemReader::location_of(const problem::Objection& objection) const {
  const auto declared = [&](const LoopNames& names) {
    return Location{file_, names.line(objection.index), names.column(objection.index)};
  };
  switch (objection.part) {
    case problem::Part::loop:
      break;
    case problem::Part::unit:
      return declared(units_);
    case problem::Part::pipe:
      return declared(pipes_);
    case problem::Part::memory:
      return declared(memories_);
    case problem::Part::group:
      return declared(groups_);
    case problem::Part::op:
      return declared(ops_);
    case problem::Part::dependence:
      return dependences_[objection.index];
    case problem::Part::same_group:
      return same_group_[objection.index];
    case problem::Part::transfer:
      return transfers_[objection.index];
    case problem::Part::register_budget:
      return register_budgets_[objection.index];
  }
  return declared(loops_);
}

Result<problem::Problem> LoopProblemReader::finish() {
  if (loops_.size() == 0) {
    return tl::unexpected(Diagnostic{{file_, 1, 1},
                                     "there is no statement in this text",
                                     std::string(line_of(text_, 1)),
                                     "a .loop text begins with 'loop NAME'"});
  }
  for (OpDraft& draft : drafts_) parts_.ops.push_back(finished(std::move(draft)));
  drafts_.clear();
  if (std::optional<problem::Objection> objection = objection_to(parts_)) {
    const Location at = location_of(*objection);
    return tl::unexpected(Diagnostic{at, std::move(objection->message),
                                     std::string(line_of(text_, at.line)),
                                     std::move(objection->hint)});
  }
  return pose(std::move(parts_));
}

}  // namespace twill::schedule
