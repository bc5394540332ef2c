#include <utility>

#include "twill/driver/checking.h"
#include "twill/driver/driver.h"
#include "twill/driver/given.h"
#include "twill/driver/input.h"
#include "twill/report/schedule_json.h"
#include "twill/schedule/bounds.h"
#include "twill/schedule/least_interval.h"
#include "twill/schedule/loop_text.h"

namespace twill::driver {
namespace {

/// What there is to say about a schedule that somebody else made.
report::Outcome outcome_of(const Input& input, problem::Problem problem,
                           schedule::Schedule schedule) {
  schedule::Answer answer;
  answer.verdict = schedule::Verdict::feasible;
  answer.schedule = std::move(schedule);
  answer.lower_bound = schedule::min_ii(problem);
  report::Outcome outcome = described(input, std::move(problem), std::move(answer));
  outcome.violations = violations_of(outcome.problem, *outcome.answer.schedule);
  return outcome;
}

Result<report::Outcome> follow(const Input& input, problem::Problem problem,
                               const schedule::Order& order) {
  auto least = schedule::least_interval(problem, order);
  if (!least) {
    Diagnostic wrong = std::move(least).error();
    if (wrong.location.file.empty()) wrong.location.file = input.name;
    return tl::unexpected(std::move(wrong));
  }
  report::Outcome outcome = outcome_of(input, std::move(problem), std::move(least->schedule));
  outcome.order_circuit = std::move(least->circuit.edges);
  return outcome;
}

}  // namespace

Result<report::Outcome> read_given(const Input& input) {
  TWILL_TRY(const Form form, form_of(input));
  if (form == Form::ttgir) {
    return fail({input.name}, "a TTGIR kernel holds no schedule to verify",
                "`twill schedule` finds one");
  }
  if (form == Form::schedule_json) {
    TWILL_TRY(report::ScheduleFile file, report::read_schedule_json(input.text, input.name));
    return outcome_of(input, std::move(file.problem), std::move(file.schedule));
  }
  TWILL_TRY(schedule::LoopText loop, schedule::parse_loop(input.text, input.name));
  if (loop.schedule) return outcome_of(input, std::move(loop.problem), *std::move(loop.schedule));
  if (loop.order) return follow(input, std::move(loop.problem), *loop.order);
  return fail({input.name}, "there is neither a schedule nor an order in it to verify",
              "`twill schedule` finds a schedule");
}

Result<report::Outcome> verify_schedule(const Input& input) {
  TWILL_TRY(report::Outcome outcome, read_given(input));
  leave_what_exists(outcome);
  return outcome;
}

Result<report::Outcome> evaluate_order(const Input& input) {
  TWILL_TRY(const Form form, form_of(input));
  if (form != Form::loop) return fail({input.name}, "an order stands in a .loop file");
  TWILL_TRY(schedule::LoopText loop, schedule::parse_loop(input.text, input.name));
  if (loop.order) return follow(input, std::move(loop.problem), *loop.order);
  if (loop.schedule && !loop.problem.hand_offs().empty()) {
    return fail({input.name}, "an order of a loop with hand-offs is not evaluated",
                "`twill verify` checks its schedule");
  }
  if (!loop.schedule) {
    return fail({input.name}, "there is neither an order nor a schedule in it to evaluate");
  }
  const schedule::Order order = schedule::order_of(loop.problem, *loop.schedule);
  return follow(input, std::move(loop.problem), order);
}

}  // namespace twill::driver
