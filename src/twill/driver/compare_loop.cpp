#include "twill/driver/compare_loop.h"

#include <algorithm>
#include <map>
#include <utility>

#include "twill/driver/simulate_loop.h"
#include "twill/schedule/analysis.h"

namespace twill::driver {
namespace {

using report::Compared;
using strategy::Strategy;

/// "strategy triton: ..." without what the row's name says.
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
      if (buffer.memory != memory.name || buffer.resident) continue;
      end = std::max(end, buffer.offset + buffer.size * buffer.depth);
    }
    if (end > 0) row.memory.emplace_back(memory.name, end);
  }
}

/// Everything about one strategy.
class Row {
 public:
  Row(const Request& request, Strategy strategy, ComparedLoop& out) : request_(request), out_(out) {
    request_.strategy.strategy = strategy;
    const bool has_depth = strategy == Strategy::triton || strategy == Strategy::cypress;
    if (!has_depth) request_.strategy.depth.reset();
    if (strategy != Strategy::triton) request_.strategy.ping_pong = false;
    row_.strategy = strategy::name_of(strategy);
  }

  Compared fill() {
    auto outcome = schedule_loop(request_);
    if (!outcome) {
      row_.note = without_name(outcome.error().message, row_.strategy);
      return std::move(row_);
    }
    report::Comparison& heading = out_.comparison;
    heading.loop = outcome->loop;
    heading.machine = outcome->machine;
    heading.machine_measured = outcome->machine_measured;
    add_schedule(row_, *outcome);
    for (const std::string& it : outcome->violations) bug(it);
    if (outcome->answer.schedule && outcome->violations.empty()) run(*std::move(outcome));
    return std::move(row_);
  }

 private:
  void bug(const std::string& what) { out_.bugs.push_back(row_.strategy + ": " + what); }

  void run(report::Outcome outcome) {
    const Cycles fastest = outcome.answer.schedule->initiation_interval;
    auto planned = plan_scheduled(request_, std::move(outcome));
    if (!planned) {
      row_.note = planned.error().message;
      return;
    }
    for (const plan::Finding& it : planned->findings) bug(it.rule + ": " + it.message);
    if (!planned->plan) return;
    add_schedule(row_, planned->outcome);
    if (row_.interval != fastest) {
      row_.note = "the fastest schedule, II " + std::to_string(fastest) +
                  ", cannot be carried out; this is another";
    }
    add_plan(row_, planned->plan->plan());
    const auto loop = simulate_planned(request_, *std::move(planned), {});
    if (!loop) {
      row_.note = loop.error().message;
      return;
    }
    if (loop->fault) bug("a proven plan cannot be run: " + loop->fault->message);
    if (loop->run) row_.simulated = loop->run->interval;
  }

  Request request_;
  ComparedLoop& out_;
  Compared row_;
};

}  // namespace

Result<ComparedLoop> compare_loop(const Request& request, std::span<const Strategy> strategies) {
  TWILL_TRY_VOID(pose_loop(request, machine::Rate::slowest));
  ComparedLoop out;
  out.comparison.input = request.input.name;
  for (const Strategy strategy : strategies) {
    out.comparison.rows.push_back(Row(request, strategy, out).fill());
  }
  return out;
}

}  // namespace twill::driver
