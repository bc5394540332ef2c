#include "twill/report/alternatives.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "twill/report/entry.h"
#include "twill/support/text_table.h"

namespace twill::report {
namespace {

using problem::Problem;
using schedule::Difference;
using Align = TextTable::Align;

constexpr std::size_t kShown = 3;  ///< differences of one alternative

/// Describes the place of an op with this round after `other`. `short_name`: for `other` of the
/// same iteration.
std::string place(std::int64_t round, const std::string& other, const std::string& short_name) {
  if (round == 0) return "after " + short_name;
  if (round == 1) return fmt::format("after {} of the next iteration", other);
  if (round > 1) return fmt::format("after {} of {} iterations later", other, round);
  if (round == -1) return "before " + short_name;
  if (round == -2) return fmt::format("before {} of the iteration before", other);
  return fmt::format("before {} of {} iterations earlier", other, -round - 1);
}

std::string number(std::optional<Cycles> value) { return value ? std::to_string(*value) : "-"; }

std::vector<std::string> row(std::size_t number_of, Cycles interval,
                             const std::vector<schedule::ObjectiveValue>& levels) {
  std::vector<std::string> cells = {std::to_string(number_of), std::to_string(interval)};
  for (std::size_t i = 1; i < levels.size(); ++i) cells.push_back(std::to_string(levels[i].value));
  return cells;
}

std::string end_of(const AlternativeSchedules& alternatives) {
  switch (alternatives.end) {
    case AlternativeSchedules::End::complete:
      return "within the distance there is no other, proven";
    case AlternativeSchedules::End::count:
      return "there may be more";
    case AlternativeSchedules::End::limit:
      return "the work limit ended the search, there may be more";
  }
  return "";
}

std::string table_of(const Outcome& outcome) {
  const auto& levels = outcome.answer.objectives;
  std::vector<std::string> heading = {"", "II"};
  for (std::size_t i = 1; i < levels.size(); ++i) heading.push_back(levels[i].name);
  if (outcome.bracket) heading.insert(heading.end(), {"expected", "at slowest"});
  heading.emplace_back();
  std::vector<Align> columns(heading.size(), Align::right);
  columns.back() = Align::left;
  TextTable table(columns, 2);
  table.add(heading);
  std::vector<std::string> cells = row(0, outcome.answer.schedule->initiation_interval, levels);
  if (outcome.bracket) {
    cells.insert(cells.end(),
                 {number(outcome.bracket->expected), number(outcome.bracket->slowest)});
  }
  cells.emplace_back("this answer");
  table.add(cells);
  const auto& list = outcome.alternatives->list;
  for (std::size_t i = 0; i < list.size(); ++i) {
    cells = row(i + 1, list[i].schedule.initiation_interval, list[i].objectives);
    if (outcome.bracket) {
      cells.insert(cells.end(), {number(list[i].expected), number(list[i].slowest)});
    }
    if (!list[i].proven) cells.emplace_back("gap");
    table.add(cells);
  }
  return table.to_string();
}

}  // namespace

std::string in_words(const Problem& problem, const Difference& difference) {
  const problem::Op& op = problem[difference.op];
  const auto index = [](std::int64_t it) { return static_cast<std::size_t>(it); };
  switch (difference.kind) {
    case Difference::Kind::alternative:
      return fmt::format("{} by {} instead of {}", op.name,
                         op.alternatives[index(difference.is)].name,
                         op.alternatives[index(difference.was)].name);
    case Difference::Kind::group:
      return fmt::format("{} in {} instead of {}", op.name,
                         problem.groups()[index(difference.is)].name,
                         problem.groups()[index(difference.was)].name);
    case Difference::Kind::order:
      break;
  }
  const std::string& other = problem[difference.other].name;
  return fmt::format("{} {} instead of {}", op.name, place(difference.is, other, other),
                     place(difference.was, other, "it"));
}

std::string in_words(const Problem& problem, const std::vector<Difference>& differences) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, differences.size()); ++i) {
    text += (i > 0 ? "; " : "") + in_words(problem, differences[i]);
  }
  if (differences.size() <= kShown) return text;
  return text + fmt::format("; and {} more", differences.size() - kShown);
}

std::string alternatives_text(const Outcome& outcome) {
  const AlternativeSchedules& alternatives = *outcome.alternatives;
  std::string out =
      wrap(fmt::format(
               "alternatives: schedules of other structures, II at most {} ({} % above this one), "
               "best first; {}",
               alternatives.most_interval, alternatives.within, end_of(alternatives)),
           kWidth, "", "  ");
  if (alternatives.list.empty()) return out;
  out += table_of(outcome);
  for (std::size_t i = 0; i < alternatives.list.size(); ++i) {
    const AlternativeSchedule& it = alternatives.list[i];
    const Problem& problem = it.remains ? it.remains->problem : outcome.problem;
    out += wrap(in_words(problem, it.differences), kWidth, fmt::format("  {}: ", i + 1), "     ");
  }
  return out;
}

}  // namespace twill::report
