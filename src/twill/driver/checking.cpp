#include "twill/driver/checking.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "twill/problem/transfer.h"
#include "twill/schedule/bounds.h"
#include "twill/schedule/loop_text.h"
#include "twill/verify/verify.h"

namespace twill::driver {
namespace {

constexpr std::string_view kSize = "size";  ///< the rule that a schedule breaks if it is too large
                                            ///< to simulate

std::vector<verify::Violation> found_by_checker(const problem::Problem& problem,
                                                const schedule::Schedule& schedule) {
  auto checked = verify::verify(problem, schedule);
  return checked ? std::vector<verify::Violation>() : std::move(checked).error();
}

std::vector<std::string> lines_of(const std::vector<verify::Violation>& violations) {
  std::vector<std::string> lines;
  for (const verify::Violation& violation : violations) lines.push_back(violation.message);
  return lines;
}

/// The violation which says that a schedule was not simulated; null if it was simulated.
const verify::Violation* size_of(const std::vector<verify::Violation>& violations) {
  const auto found = std::find_if(violations.begin(), violations.end(),
                                  [](const auto& it) { return it.rule == kSize; });
  return found == violations.end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::string> violations_of(const problem::Problem& problem,
                                       const schedule::Schedule& schedule) {
  return lines_of(found_by_checker(problem, schedule));
}

Result<std::vector<std::string>> violations_of_found(const Input& input,
                                                     const problem::Problem& problem,
                                                     const schedule::Schedule& schedule) {
  const auto violations = found_by_checker(problem, schedule);
  const verify::Violation* size = size_of(violations);
  if (size == nullptr) return lines_of(violations);
  return fail(
      {input.name},
      "its schedule is too large to be checked: " +
          size->message.substr(kSize.size() + std::string_view(": ").size()),
      "make its longest latencies shorter, or have `twill schedule --normalize 1000` do it");
}

namespace {

/// Reduces the schedule, and its differences, to the residual problem of its groups.
report::ResidualLoop remains_of(const report::Outcome& outcome, schedule::Schedule& schedule,
                                std::vector<schedule::Difference>& differences) {
  problem::Residual left = problem::residual_of(outcome.problem, schedule::groups_of(schedule));
  schedule = schedule::in_residual(left, schedule);
  for (schedule::Difference& it : differences) {
    it.op = left.now(it.op).value_or(it.op);
    it.other = left.now(it.other).value_or(it.other);
  }
  std::vector<extract::OpOrigin> origins;
  std::vector<std::string> lines;
  for (const problem::OpId op : left.ops) {
    if (op.index() < outcome.origins.size()) origins.push_back(outcome.origins[op.index()]);
    if (op.index() < outcome.lines.size()) lines.push_back(outcome.lines[op.index()]);
  }
  return {std::move(left.problem), std::move(origins), std::move(lines)};
}

}  // namespace

void leave_what_exists(report::Outcome& outcome) {
  if (outcome.problem.transfers().empty() || !outcome.answer.schedule) return;
  if (outcome.alternatives) {
    for (report::AlternativeSchedule& it : outcome.alternatives->list) {
      it.remains = remains_of(outcome, it.schedule, it.differences);
    }
  }
  schedule::Schedule& schedule = *outcome.answer.schedule;
  const problem::Residual left =
      problem::residual_of(outcome.problem, schedule::groups_of(schedule));
  for (schedule::Bound* bound : {&outcome.answer.lower_bound, &outcome.min_ii}) {
    for (problem::OpId& op : bound->ops) op = left.now(op).value_or(op);
  }
  report::ResidualLoop remains = remains_of(outcome, schedule, outcome.differences);
  outcome.origins = std::move(remains.origins);
  outcome.lines = std::move(remains.lines);
  outcome.problem = std::move(remains.problem);
}

report::Outcome described(const Input& input, problem::Problem problem, schedule::Answer answer) {
  report::Outcome outcome(std::move(problem));
  outcome.input = input.name;
  outcome.problem_hash = schedule::problem_hash(outcome.problem);
  outcome.problem_text = schedule::print_loop(schedule::loop_text_of(outcome.problem));
  outcome.min_ii = schedule::min_ii(outcome.problem);
  outcome.answer = std::move(answer);
  return outcome;
}

}  // namespace twill::driver
