#include "twill/driver/checking.h"

#include <algorithm>
#include <utility>

#include "twill/schedule/bounds.h"
#include "twill/schedule/loop_text.h"
#include "twill/verify/verify.h"

namespace twill::driver {

std::vector<std::string> violations_of(const problem::Problem& problem,
                                       const schedule::Schedule& schedule) {
  std::vector<std::string> lines;
  const auto checked = verify::verify(problem, schedule);
  if (checked) return lines;
  for (const verify::Violation& violation : checked.error()) {
    lines.push_back(violation.message);
  }
  return lines;
}

namespace {

/// Takes the schedule down to what its groups leave, and makes the differences speak of that.
report::Remains remains_of(const report::Outcome& outcome, schedule::Schedule& schedule,
                           std::vector<schedule::Difference>& differences) {
  problem::Reduced left = problem::reduced(outcome.problem, schedule::groups_of(schedule));
  schedule = schedule::reduced(left, schedule);
  for (schedule::Difference& it : differences) {
    it.op = left.now(it.op).value_or(it.op);
    it.other = left.now(it.other).value_or(it.other);
  }
  std::vector<extract::OpOrigin> origins;
  for (const problem::OpId op : left.ops) {
    if (op.index() < outcome.origins.size()) origins.push_back(outcome.origins[op.index()]);
  }
  return {std::move(left.problem), std::move(origins)};
}

}  // namespace

void leave_what_exists(report::Outcome& outcome) {
  if (outcome.problem.hand_offs().empty() || !outcome.answer.schedule) return;
  if (outcome.alternatives) {
    for (report::Alternative& it : outcome.alternatives->list) {
      it.remains = remains_of(outcome, it.schedule, it.differences);
    }
  }
  schedule::Schedule& schedule = *outcome.answer.schedule;
  const problem::Reduced left = problem::reduced(outcome.problem, schedule::groups_of(schedule));
  for (schedule::Bound* bound : {&outcome.answer.lower_bound, &outcome.min_ii}) {
    for (problem::OpId& op : bound->ops) op = left.now(op).value_or(op);
  }
  report::Remains remains = remains_of(outcome, schedule, outcome.differences);
  outcome.origins = std::move(remains.origins);
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
