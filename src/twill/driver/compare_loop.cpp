#include "twill/driver/compare_loop.h"

#include <algorithm>
#include <map>
#include <utility>

#include "twill/driver/kernel.h"
#include "twill/driver/plan_loop.h"
#include "twill/problem/problem.h"
#include "twill/report/story.h"
#include "twill/schedule/analysis.h"
#include "twill/simulate/simulate.h"

namespace twill::driver {
namespace {

using report::Compared;
using strategy::Strategy;

/// The message without its prefix "strategy triton: ", since the row shows the strategy's name.
std::string without_name(const std::string& message, const std::string& strategy) {
  const std::string prefix = "strategy " + strategy + ": ";
  return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

void add_schedule(Compared& row, const report::Outcome& outcome) {
  row.pool = outcome.pool;
  row.verdict = outcome.answer.verdict;
  row.note = without_name(outcome.answer.argument, row.strategy);
  if (!outcome.answer.schedule) return;
  const schedule::Schedule& found = *outcome.answer.schedule;
  row.interval = found.initiation_interval;
  if (outcome.bracket) row.expected = report::expected_within(*outcome.bracket);
  row.stages = schedule::stage_count(outcome.problem, found);
  row.groups = schedule::used_groups(outcome.problem, found).size();
  const std::vector<Amount> registers = schedule::peak_registers(outcome.problem, found);
  row.registers = *std::max_element(registers.begin(), registers.end());
}

void add_plan(Compared& row, const plan::Plan& plan) {
  Amount registers = 0;
  for (const plan::Role& role : plan.roles) {
    registers = std::max<Amount>(registers, role.registers);
  }
  row.registers = registers;
  for (const problem::Memory& memory : plan.problem.memories()) {
    Amount end = 0;
    for (const plan::Buffer& buffer : plan.buffers) {
      if (buffer.memory != memory.name || buffer.invariant_buffer) continue;
      end = std::max(end, buffer.offset + buffer.size * buffer.depth);
    }
    if (end > 0) row.memory.emplace_back(memory.name, end);
  }
}

/// Makes the row of one strategy.
class Row {
 public:
  Row(const Request& request, std::shared_ptr<const Reading> reading, Strategy strategy,
      ComparedLoop& out)
      : request_(request), reading_(std::move(reading)), out_(out) {
    request_.strategy.strategy = strategy;
    const bool has_depth = strategy == Strategy::triton || strategy == Strategy::triton_plain ||
                           strategy == Strategy::cypress;
    if (!has_depth) request_.strategy.depth.reset();
    if (strategy != Strategy::triton) request_.strategy.ping_pong = false;
    row_.strategy = strategy::name_of(strategy);
    row_.what = strategy::summary_of(strategy);
  }

  Compared fill() {
    auto answer = answer_reading(request_, reading_);
    if (answer) {
      fill_from(*answer);
      if (request_.strategy.strategy == Strategy::twill) out_.answer = *std::move(answer);
    } else {
      row_.note = without_name(answer.error().message, row_.strategy);
    }
    return std::move(row_);
  }

 private:
  void fill_from(const PlannedLoop& answer) {
    const report::Outcome& outcome = answer.outcome;
    report::Comparison& heading = out_.comparison;
    heading.loop = outcome.loop;
    heading.machine = outcome.machine;
    heading.machine_measured = outcome.machine_measured;
    if (row_.strategy == "twill") heading.story = report::story(outcome);
    if (out_.warnings.empty()) out_.warnings = outcome.warnings;
    add_schedule(row_, outcome);
    for (const std::string& it : outcome.violations) bug(it);
    for (const plan::Finding& it : answer.findings) bug(it.rule + ": " + it.message);
    if (answer.refusal) row_.note = answer.refusal->message;
    if (!answer.plan) return;
    add_plan(row_, answer.plan->plan());
    row_.simulated = outcome.built->simulated;
    row_.note = not_the_first(answer.plan->plan().notes);
  }

  void bug(const std::string& what) { out_.bugs.push_back(row_.strategy + ": " + what); }

  /// Note of the plan that its schedule is not the first.
  static std::string not_the_first(const std::vector<std::string>& notes) {
    for (const std::string& note : notes) {
      if (note.starts_with("the fastest schedule, II ")) return note;
    }
    return "";
  }

  Request request_;
  std::shared_ptr<const Reading> reading_;
  ComparedLoop& out_;
  Compared row_;
};

}  // namespace

Result<ComparedLoop> compare_loop(const Request& request, std::span<const Strategy> strategies) {
  TWILL_TRY(Reading read, read_once(request));
  const auto reading = std::make_shared<const Reading>(std::move(read));
  TWILL_TRY_VOID(pose_reading(request, *reading, machine::Rate::slowest));
  ComparedLoop out;
  out.comparison.input = request.input.name;
  if (reading->kernel) out.comparison.tolerance = simulate::kError;
  for (const Strategy strategy : strategies) {
    out.comparison.rows.push_back(Row(request, reading, strategy, out).fill());
  }
  return out;
}

}  // namespace twill::driver
