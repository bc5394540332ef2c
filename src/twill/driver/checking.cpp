#include "twill/driver/checking.h"

#include <utility>

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

report::Outcome described(const Input& input, problem::Problem problem, schedule::Answer answer) {
  report::Outcome outcome(std::move(problem));
  outcome.input = input.name;
  outcome.problem_hash = schedule::problem_hash(outcome.problem);
  outcome.problem_text = schedule::print_loop(schedule::loop_text_of(outcome.problem));
  outcome.answer = std::move(answer);
  return outcome;
}

}  // namespace twill::driver
