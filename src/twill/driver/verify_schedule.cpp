#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "twill/driver/checking.h"
#include "twill/driver/driver.h"
#include "twill/driver/imported.h"
#include "twill/driver/input.h"
#include "twill/problem/transfer.h"
#include "twill/report/schedule_json.h"
#include "twill/schedule/bounds.h"
#include "twill/schedule/least_interval.h"
#include "twill/schedule/loop_text.h"

namespace twill::driver {
namespace {

/// Outcome of an imported schedule.
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

using problem::OpId;

/// An order in the residual problem of its groups, as written in an input.
struct Written {
  const problem::Residual& left;
  const schedule::Order& order;
  int line = 0;  ///< line of the order in the input; 0: nowhere
};

/// Number of larger intervals that are tried for an order. The first step is an eighth of the least
/// II, and each step is twice as large as the last.
constexpr int kDoublings = 10;

/// The order's earliest schedule of the whole Problem at an II of at least `at_least`; empty if it
/// breaks a rule.
std::optional<schedule::Schedule> kept_from(const problem::Problem& problem, const Written& written,
                                            Cycles at_least) {
  const auto timed = schedule::least_interval(written.left.problem, written.order, at_least);
  if (!timed) return std::nullopt;
  schedule::Schedule whole = schedule::completed(problem, written.left, timed->schedule);
  if (!violations_of(problem, whole).empty()) return std::nullopt;
  return whole;
}

/// The order's earliest schedule at the least larger II at which it obeys every rule. Found by
/// doubling steps and halving them again; a larger II gives values more room.
std::optional<schedule::Schedule> kept_further(const problem::Problem& problem,
                                               const Written& written, Cycles least) {
  Cycles broken = least;
  std::optional<schedule::Schedule> kept;
  Cycles step = std::max<Cycles>(1, least / 8);
  for (int i = 0; i < kDoublings && !kept; ++i, step *= 2) {
    kept = kept_from(problem, written, broken + step);
    if (!kept) broken += step;
  }
  while (kept && kept->initiation_interval > broken + 1) {
    const Cycles middle = broken + (kept->initiation_interval - broken) / 2;
    auto better = kept_from(problem, written, middle);
    if (better) {
      kept = std::move(better);
    } else {
      broken = middle;
    }
  }
  return kept;
}

/// Takes a larger II, with a note, if the order's least II leaves too little room. The new II is at
/// most that of `known`, a schedule of this order, if that obeys every rule.
void go_further(const Written& written, const std::optional<schedule::Schedule>& known,
                report::Outcome& outcome) {
  const Cycles least = outcome.answer.schedule->initiation_interval;
  auto kept = kept_further(outcome.problem, written, least);
  const bool sooner = known && (!kept || known->initiation_interval < kept->initiation_interval);
  if (sooner && violations_of(outcome.problem, *known).empty()) kept = known;
  if (!kept) {
    outcome.notes.push_back(fmt::format(
        "nor does its earliest schedule keep every rule at any larger II that was tried, up to {}",
        least + std::max<Cycles>(1, least / 8) * ((1 << kDoublings) - 1)));
    return;
  }
  outcome.notes.push_back(
      fmt::format("its sequences alone allow II {}, at which its earliest schedule breaks: {}",
                  least, outcome.violations.front()));
  outcome.answer.schedule = *std::move(kept);
  outcome.violations.clear();
}

/// Makes the outcome of an order.
Result<report::Outcome> follow(const Input& input, problem::Problem problem,
                               const Written& written) {
  const auto& [left, order, order_line] = written;
  auto least = schedule::least_interval(left.problem, order);
  if (!least) {
    Diagnostic wrong = std::move(least).error();
    if (wrong.location.file.empty()) wrong.location.file = input.name;
    if (wrong.location.line == 0 && order_line > 0) {
      wrong.location.line = order_line;
      wrong.location.column = 1;
      wrong.source_line = line_of(input.text, order_line);
    }
    return tl::unexpected(std::move(wrong));
  }
  schedule::Schedule whole = schedule::completed(problem, left, least->schedule);
  report::Outcome outcome = outcome_of(input, std::move(problem), std::move(whole));
  outcome.order_circuit = std::move(least->circuit.edges);
  return outcome;
}

/// By op: whether a group's sequence names it.
std::vector<bool> listed_in(const schedule::Order& order) {
  std::vector<bool> listed(order.ops.size(), false);
  for (const std::vector<OpId>& sequence : order.groups) {
    for (const OpId op : sequence) listed[op.index()] = true;
  }
  return listed;
}

/// Checks that transfer ops are in the order exactly if its groups need them, in the group of their
/// op.
Result<void> check_transfers(const Input& input, const problem::Problem& problem,
                             const std::vector<problem::GroupId>& groups,
                             const schedule::Order& order) {
  const auto transfer_ops = problem::transfer_ops_of(problem);
  const std::vector<bool> listed = listed_in(order);
  for (std::size_t i = 0; i < transfer_ops.size(); ++i) {
    if (!transfer_ops[i]) continue;
    const std::string& name = problem.ops()[i].name;
    const bool needed = problem::is_needed(*transfer_ops[i], groups);
    if (needed != listed[i]) {
      return fail({input.name}, "the order " + std::string(needed ? "leaves out '" : "has '") +
                                    name +
                                    (needed ? "', but what it moves goes to another group"
                                            : "', but what it moves stays in its group"));
    }
    if (!needed || groups[i] == groups[transfer_ops[i]->home.index()]) continue;
    return fail({input.name}, "the order has '" + name + "' in another group than '" +
                                  problem[transfer_ops[i]->home].name + "', to which it belongs");
  }
  return {};
}

/// The sequences without ops that do not exist. A group's sequence has no such op; a unit's
/// sequence may have one.
Result<std::vector<std::vector<OpId>>> renumbered(const Input& input,
                                                  const problem::Problem& problem,
                                                  const problem::Residual& left,
                                                  const std::vector<std::vector<OpId>>& all) {
  std::vector<std::vector<OpId>> out;
  for (const std::vector<OpId>& sequence : all) {
    out.emplace_back();
    for (const OpId op : sequence) {
      const auto now = left.now(op);
      if (!now) {
        return fail({input.name}, "a unit's sequence names '" + problem[op].name +
                                      "', but what it moves stays in its group");
      }
      out.back().push_back(*now);
    }
  }
  return out;
}

/// Makes the outcome of a written order; with `further`, at an II that obeys every rule.
Result<report::Outcome> follow(const Input& input, problem::Problem problem,
                               const schedule::Order& order, int order_line, bool further) {
  std::vector<problem::GroupId> groups;
  for (const schedule::Step& step : order.ops) groups.push_back(step.group);
  TWILL_TRY_VOID(check_transfers(input, problem, groups, order));
  const problem::Residual left = problem::residual_of(problem, groups);
  schedule::Order existing;
  for (const OpId op : left.ops) existing.ops.push_back(order.ops[op.index()]);
  TWILL_TRY(existing.groups, renumbered(input, problem, left, order.groups));
  TWILL_TRY(existing.units, renumbered(input, problem, left, order.units));
  TWILL_TRY(report::Outcome outcome,
            follow(input, std::move(problem), {left, existing, order_line}));
  if (further && !outcome.violations.empty()) go_further({left, existing, order_line}, {}, outcome);
  return outcome;
}

}  // namespace

Result<report::Outcome> read_imported(const Input& input) {
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
  if (loop.order) {
    return follow(input, std::move(loop.problem), *loop.order, loop.order_line, false);
  }
  return fail({input.name}, "it has neither a schedule nor an order to verify",
              "`twill schedule` finds a schedule");
}

namespace {

Result<report::Outcome> existing(Result<report::Outcome> outcome) {
  if (outcome) leave_what_exists(*outcome);
  return outcome;
}

}  // namespace

Result<report::Outcome> verify_schedule(const Input& input) {
  return existing(read_imported(input));
}

Result<report::Outcome> evaluate_order(const Input& input) {
  TWILL_TRY(const Form form, form_of(input));
  if (form != Form::loop) return fail({input.name}, "only a .loop file can have an order");
  TWILL_TRY(schedule::LoopText loop, schedule::parse_loop(input.text, input.name));
  if (loop.order)
    return existing(follow(input, std::move(loop.problem), *loop.order, loop.order_line, true));
  if (!loop.schedule) {
    return fail({input.name}, "it has neither an order nor a schedule to evaluate");
  }
  const problem::Residual left =
      problem::residual_of(loop.problem, schedule::groups_of(*loop.schedule));
  const schedule::Order order =
      schedule::order_of(left.problem, schedule::in_residual(left, *loop.schedule));
  const Written written{left, order};
  TWILL_TRY(report::Outcome outcome, follow(input, std::move(loop.problem), written));
  if (!outcome.violations.empty()) go_further(written, loop.schedule, outcome);
  leave_what_exists(outcome);
  return outcome;
}

}  // namespace twill::driver
