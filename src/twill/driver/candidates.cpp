#include "twill/driver/candidates.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "twill/problem/problem.h"
#include "twill/report/alternatives.h"
#include "twill/schedule/bounds.h"
#include "twill/schedule/loop_text.h"

namespace twill::driver {
namespace {

/// Keeps the lower bound of the answer as its only claim.
void claim_bound_only(schedule::Answer& answer) {
  answer.verdict = schedule::Verdict::feasible;
  for (schedule::ObjectiveValue& it : answer.objectives) {
    it.bound = 0;
    it.proven = false;
  }
  schedule::ObjectiveValue& interval = answer.objectives.front();
  interval.bound = answer.lower_bound.value;
  interval.proven = interval.bound == interval.value;
}

std::string variant_of(const report::Outcome& first, const Step& step) {
  const report::Outcome& it = step.proposal.outcome;
  std::string words;
  if (it.alternative > 0 && first.alternative == 0) {
    words = fmt::format("number {} of the same II", it.alternative);
  }
  if (step.share < 1) words = fmt::format("in {:g} % of the memory", 100 * step.share);
  if (!step.among.empty()) words = step.among;
  if (step.shrink) words += words.empty() ? "with fewer copies" : ", fewer copies";
  return words;
}

}  // namespace

std::vector<std::string> notes_on(const report::Outcome& outcome) {
  if (outcome.alternative == 0) return {};
  return {fmt::format("alternative {} to the best found: {}", outcome.alternative,
                      report::in_words(outcome.problem, outcome.differences))};
}

std::string note_on(const report::Outcome& first, const Step& step, const std::string& refusal) {
  const report::Outcome& chosen = step.proposal.outcome;
  std::string note = (first.alternative > 0 ? "the schedule, II " : "the fastest schedule, II ") +
                     std::to_string(first.answer.schedule->initiation_interval) + ", " + refusal;
  std::string which;
  if (chosen.strategy != first.strategy) which += " of strategy " + chosen.strategy;
  if (chosen.pool != first.pool) which += " of pool " + chosen.pool;
  if (chosen.rate != first.rate) which += " with every op at its " + chosen.rate;
  if (step.share < 1) which += fmt::format(" in {:g} % of the memory", 100 * step.share);
  if (!step.among.empty()) which += " " + step.among;
  if (!which.empty()) note += "; this is the best found" + which;
  if (chosen.alternative > 0 && first.alternative == 0) {
    note += fmt::format("; this is the next best, number {}, of the same II", chosen.alternative);
  }
  return note;
}

report::Candidate candidate_of(const report::Outcome& first, const Step& step) {
  const report::Outcome& it = step.proposal.outcome;
  report::Candidate out;
  out.rate = it.rate;
  out.pool = it.pool;
  out.verdict = it.answer.verdict;
  out.interval = it.answer.schedule->initiation_interval;
  if (it.bracket) {
    out.expected = it.bracket->expected;
    out.slowest = it.bracket->slowest;
  }
  out.note = variant_of(first, step);
  if (it.strategy != first.strategy) out.note = "strategy " + it.strategy;
  if (step.proposal.trial) out.simulated = step.proposal.trial->interval;
  return out;
}

const Step* expected_to_be_better(const std::vector<Step>& steps) {
  const auto expected = [](const Step& step) {
    const auto& bracket = step.proposal.outcome.bracket;
    return bracket && bracket->expected ? *bracket->expected : std::numeric_limits<Cycles>::max();
  };
  const Step* best = nullptr;
  for (const Step& step : steps) {
    const bool refused = step.proposal.trial && step.proposal.trial->refusal;
    if (!refused || expected(step) >= expected(best == nullptr ? steps.front() : *best)) continue;
    best = &step;
  }
  return best;
}

bool may_depend_on_transfers(const plan::Plan& plan) {
  const bool never = std::any_of(
      plan.mechanisms.begin(), plan.mechanisms.end(),
      [](const plan::Mechanism mechanism) { return mechanism == plan::Mechanism::tcgen05; });
  return !never && std::any_of(plan.values.begin(), plan.values.end(),
                               [](const plan::Value& value) { return value.staged.has_value(); });
}

void with_memories_of(const report::Outcome& first, report::Outcome& outcome) {
  problem::Parts parts = outcome.problem.parts();
  const auto memories = first.problem.memories();
  parts.memories.assign(memories.begin(), memories.end());
  outcome.problem = problem::pose(std::move(parts)).value();  // only with more memory
  outcome.problem_hash = schedule::problem_hash(outcome.problem);
  outcome.problem_text = schedule::print_loop(schedule::loop_text_of(outcome.problem));
  outcome.min_ii = schedule::min_ii(outcome.problem);
  const bool same = outcome.problem_hash == first.problem_hash;
  outcome.answer.lower_bound = same ? first.answer.lower_bound : outcome.min_ii;
  if (same) {
    claim_of_other(first.answer, outcome.answer);
  } else {
    claim_bound_only(outcome.answer);
  }
  if (!outcome.bracket || !first.bracket) return;
  outcome.bracket->fastest = first.bracket->fastest;
  outcome.bracket->fastest_limit = first.bracket->fastest_limit;
  outcome.bracket->fastest_witness = first.bracket->fastest_witness;
}

bool is_as_good(const schedule::Answer& known,
                const std::vector<schedule::ObjectiveValue>& objectives) {
  return known.verdict == schedule::Verdict::optimal &&
         std::equal(objectives.begin(), objectives.end(), known.objectives.begin(),
                    known.objectives.end(),
                    [](const auto& a, const auto& b) { return a.value == b.value; });
}

void claim_of_other(const schedule::Answer& known, schedule::Answer& answer) {
  if (!is_as_good(known, answer.objectives)) return claim_bound_only(answer);
  answer.verdict = schedule::Verdict::optimal;
  answer.lower_bound = known.lower_bound;
  answer.objectives = known.objectives;
}

std::string in_one_line(const Diagnostic& why) {
  constexpr std::string_view kKnown = "cannot be printed as CUDA: ";
  const std::size_t from = why.message.starts_with(kKnown) ? kKnown.size() : 0;
  const std::string message = why.message.substr(from);
  if (why.location.line <= 0) return message;
  return fmt::format("{}:{}: {}", why.location.line, why.location.column, message);
}

Diagnostic refused_transfers(const std::string& why) {
  Diagnostic out;
  out.message =
      "transfers do not fit into shared memory: with their stores and loads "
      "there is no schedule, since " +
      why;
  return out;
}

std::string note_on_refused(const Step& step) {
  const report::Outcome& it = step.proposal.outcome;
  return fmt::format(
      "the schedule of pool {} with every op at its {}, II {}, cannot be carried "
      "out: {}",
      it.pool, it.rate, it.answer.schedule->initiation_interval,
      step.proposal.trial->refusal->message);
}

}  // namespace twill::driver
