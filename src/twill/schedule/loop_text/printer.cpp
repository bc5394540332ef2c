#include <algorithm>
#include <cstdint>
#include <utility>

#include "twill/problem/transfer.h"
#include "twill/schedule/loop_text/statements.h"
#include "twill/support/sha256.h"

namespace twill::schedule {
namespace {

using problem::Alternative;
using problem::Dependence;
using problem::Group;
using problem::Op;
using problem::Problem;
using problem::UnitId;

/// Joins words with one blank between them.
class Words {
 public:
  explicit Words(std::string first) : text_(std::move(first)) {}

  Words& operator<<(std::string_view word) {
    text_ += ' ';
    text_ += word;
    return *this;
  }
  Words& operator<<(std::int64_t number) {
    return *this << std::string_view(std::to_string(number));
  }

  /// Appends "word number", unless the number is the default.
  Words& number(std::string_view word, std::int64_t value, std::int64_t standard) {
    return value == standard ? *this : *this << word << value;
  }
  Words& flag(std::string_view word, bool value) { return value ? *this << word : *this; }

  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

std::string with_quotes(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 0xf];
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::vector<Statement> header_of(const Problem& problem) {
  std::vector<Statement> out;
  out.push_back({{Section::name}, "loop " + problem.name()});
  if (!problem.relaxed().empty()) {
    Words words("relax");
    for (const problem::Rule rule : problem.relaxed()) words << name_of(rule);
    out.push_back({{Section::relax}, std::move(words).text()});
  }
  const problem::Parts standard;
  if (problem.parts().objectives != standard.objectives) {
    Words words("minimize");
    for (const problem::Objective objective : problem.objectives()) words << name_of(objective);
    if (problem.objectives().empty()) words << "nothing";
    out.push_back({{Section::minimize}, std::move(words).text()});
  }
  if (problem.minimum_compute_groups() != standard.minimum_compute_groups) {
    out.push_back({{Section::minimum_compute_groups},
                   "minimum-compute-groups " + std::to_string(problem.minimum_compute_groups())});
  }
  return out;
}

void add_resources(const Problem& problem, std::vector<Statement>& out) {
  for (std::size_t i = 0; i < problem.units().size(); ++i) {
    out.push_back({{Section::unit, i}, "unit " + problem.units()[i].name});
  }
  for (std::size_t i = 0; i < problem.pipes().size(); ++i) {
    const problem::Pipe& pipe = problem.pipes()[i];
    out.push_back({{Section::pipe, i}, "pipe " + pipe.name + (pipe.port ? " port" : "")});
  }
  for (std::size_t i = 0; i < problem.memories().size(); ++i) {
    const problem::Memory& memory = problem.memories()[i];
    out.push_back({{Section::memory, i},
                   "memory " + memory.name + " capacity " + std::to_string(memory.capacity)});
  }
  for (std::size_t i = 0; i < problem.groups().size(); ++i) {
    const Group& group = problem.groups()[i];
    Words words("group " + group.name);
    words.number("warps", group.warps, kDefaultWarps).number("registers", group.registers, 0);
    words.flag("loads", group.loads);
    out.push_back({{Section::group, i}, std::move(words).text()});
  }
}

void add_register_budget(const Problem& problem, std::size_t index, std::vector<Statement>& out) {
  const problem::RegisterBudget& it = problem.register_budgets()[index];
  Words words("register-budget " + std::to_string(it.total));
  words.number("step", it.step, 1).number("reserve", it.reserve, 0) << "of";
  for (const GroupId group : it.groups) words << problem[group].name;
  out.push_back({{Section::register_budget, index}, std::move(words).text()});
}

void add_alternative(const Problem& problem, const Op& op, const Alternative& alternative,
                     Words& words) {
  if (alternative.unit)
    words << "on" << problem[*alternative.unit].name << "for" << alternative.occupancy;
  words.number("latency", alternative.latency, alternative.occupancy);
  words.number("issue", alternative.issue, default_issue(op.asynchronous, alternative.occupancy));
  for (const problem::PipeUse& use : alternative.pipes) {
    words << "uses" << problem[use.pipe].name << use.demand;
  }
}

void add_op(const Problem& problem, std::size_t index, std::vector<Statement>& out) {
  const Op& op = problem.ops()[index];
  const bool plain = op.alternatives.size() == 1 && op.alternatives.front().name.empty();
  Words words("op " + op.name);
  if (plain) add_alternative(problem, op, op.alternatives.front(), words);
  words.number("warps", op.warps, kDefaultWarps).number("registers", op.registers, 0);
  for (const problem::Footprint& it : op.footprint) {
    words << "occupies" << problem[it.memory].name << it.amount;
  }
  words.flag("async", op.asynchronous);
  words.flag("variable-latency", op.variable_latency && !op.streaming);
  words.flag("streaming", op.streaming);
  std::size_t line = 0;
  out.push_back({{Section::op, index, line++}, std::move(words).text()});

  for (const std::string& source : op.source) {
    out.push_back({{Section::op, index, line++}, "  source " + with_quotes(source)});
  }
  if (plain) return;
  for (const Alternative& alternative : op.alternatives) {
    Words alternative_words("  alternative " + alternative.name);
    add_alternative(problem, op, alternative, alternative_words);
    out.push_back({{Section::op, index, line++}, std::move(alternative_words).text()});
  }
}

void add_dependence(const Problem& problem, std::size_t index, std::vector<Statement>& out) {
  const Dependence& it = problem.dependences()[index];
  Words words(problem[it.from].name + " -> " + problem[it.to].name);
  words.number("distance", it.distance, 0);
  if (it.delay) words << "delay" << *it.delay;
  words.flag("blocking", it.blocking);
  words.flag("order-only", !it.carries_value);
  if (it.read_hold) words << "read-hold" << *it.read_hold;
  words.flag("in-place", it.in_place);
  words.number("transfer", it.transfer, 0);
  words.flag("through-memory", it.through_memory);
  out.push_back({{Section::dependence, index}, std::move(words).text()});
}

void add_same_group(const Problem& problem, std::size_t index, std::vector<Statement>& out) {
  Words words("same-group");
  for (const OpId op : problem.same_group()[index]) words << problem[op].name;
  out.push_back({{Section::same_group, index}, std::move(words).text()});
}

void add_transfer(const Problem& problem, std::size_t index, std::vector<Statement>& out) {
  const problem::Transfer& it = problem.transfers()[index];
  Words words("transfer " + problem[it.value].name);
  words << "store" << problem[it.store].name;
  for (const problem::Transfer::Load& load : it.loads) {
    words << "load" << problem[load.op].name << "for" << problem[load.reader].name;
  }
  out.push_back({{Section::transfer, index}, std::move(words).text()});
}

void add_schedule(const Problem& problem, const Schedule& schedule, std::vector<Statement>& out) {
  out.push_back({{Section::schedule, 0},
                 "schedule interval " + std::to_string(schedule.initiation_interval)});
  for (std::size_t i = 0; i < schedule.ops.size(); ++i) {
    const Op& op = problem.ops()[i];
    const Placement& placement = schedule.ops[i];
    if (!placement.exists) continue;
    Words words("  " + op.name);
    words << "at" << placement.issue << "in" << problem[placement.group].name;
    if (op.alternatives.size() > 1)
      words << "alternative"
            << op.alternatives[static_cast<std::size_t>(placement.alternative)].name;
    for (const Address& it : schedule.addresses) {
      if (it.value == OpId(i)) words << "offset" << problem[it.memory].name << it.offset;
    }
    out.push_back({{Section::schedule, 1 + i}, std::move(words).text()});
  }
}

void add_order(const Problem& problem, const Order& order, std::vector<Statement>& out) {
  out.push_back({{Section::order, 0}, "order"});
  for (std::size_t i = 0; i < order.groups.size(); ++i) {
    if (order.groups[i].empty()) continue;
    Words words("  group " + problem.groups()[i].name + ":");
    for (const OpId id : order.groups[i]) {
      const Step& step = order.ops[id.index()];
      const Op& op = problem[id];
      std::string word = op.name;
      if (op.alternatives.size() > 1)
        word += "[" + op.alternatives[static_cast<std::size_t>(step.alternative)].name + "]";
      if (step.stage != 0) word += "@" + std::to_string(step.stage);
      words << word;
    }
    out.push_back({{Section::order, 1 + i}, std::move(words).text()});
  }
  for (std::size_t i = 0; i < order.units.size(); ++i) {
    if (order.units[i].empty()) continue;
    Words words("  unit " + problem.units()[i].name + ":");
    for (const OpId id : order.units[i]) words << problem[id].name;
    out.push_back({{Section::order, 1 + order.groups.size() + i}, std::move(words).text()});
  }
}

/// Number of a section's paragraph. Sections of one paragraph have no blank line between them.
int paragraph_of(Section section) {
  if (section <= Section::minimum_compute_groups) return 0;
  if (section <= Section::register_budget) return 1;
  return static_cast<int>(section);
}

}  // namespace

std::vector<Statement> statements_of(const LoopText& loop) {
  const Problem& problem = loop.problem;
  std::vector<Statement> out = header_of(problem);
  add_resources(problem, out);
  for (std::size_t i = 0; i < problem.register_budgets().size(); ++i) {
    add_register_budget(problem, i, out);
  }
  for (std::size_t i = 0; i < problem.ops().size(); ++i) add_op(problem, i, out);
  const std::vector<std::optional<problem::TransferOp>> transfer_ops =
      problem::transfer_ops_of(problem);
  for (std::size_t i = 0; i < problem.dependences().size(); ++i) {
    const Dependence& it = problem.dependences()[i];
    const bool follows = transfer_ops[it.from.index()] || transfer_ops[it.to.index()];
    if (!follows) add_dependence(problem, i, out);
  }
  for (std::size_t i = 0; i < problem.same_group().size(); ++i) add_same_group(problem, i, out);
  for (std::size_t i = 0; i < problem.transfers().size(); ++i) add_transfer(problem, i, out);
  if (loop.schedule) add_schedule(problem, *loop.schedule, out);
  if (loop.order) add_order(problem, *loop.order, out);
  return out;
}

LoopText loop_text_of(Problem problem, std::optional<Schedule> schedule,
                      std::optional<Order> order) {
  LoopText loop{std::move(problem), std::move(schedule), std::move(order), {}};
  const std::vector<Statement> statements = statements_of(loop);
  for (std::size_t i = 1; i < statements.size(); ++i) {
    if (paragraph_of(statements[i].position.section) !=
        paragraph_of(statements[i - 1].position.section)) {
      loop.remarks.push_back({i, false, ""});
    }
  }
  return loop;
}

std::string print_loop(const LoopText& loop) {
  const std::vector<Statement> statements = statements_of(loop);
  std::string out;
  auto remark = loop.remarks.begin();
  for (std::size_t i = 0; i <= statements.size(); ++i) {
    for (; remark != loop.remarks.end() && remark->statement == i && !remark->trailing; ++remark) {
      out += remark->text + "\n";
    }
    if (i == statements.size()) break;
    out += statements[i].text;
    if (remark != loop.remarks.end() && remark->statement == i) out += (remark++)->text;
    out += "\n";
  }
  return out;
}

std::string problem_hash(const Problem& problem) {
  return sha256(print_loop({problem, std::nullopt, std::nullopt, {}}));
}

}  // namespace twill::schedule
