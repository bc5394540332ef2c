#include "twill/simulate/model.h"

#include <algorithm>

#include "twill/problem/problem.h"

namespace twill::simulate {
namespace {

/// Mixes three numbers to evenly spread bits (the finalizer of splitmix64, applied to each).
std::uint64_t mixed(std::uint64_t seed, std::uint64_t a, std::uint64_t b) {
  std::uint64_t state = seed;
  for (const std::uint64_t part : {a, b}) {
    state += 0x9e3779b97f4a7c15U + part;
    state = (state ^ (state >> 30U)) * 0xbf58476d1ce4e5b9U;
    state = (state ^ (state >> 27U)) * 0x94d049bb133111ebU;
    state ^= state >> 31U;
  }
  return state;
}

void add_once(std::vector<RoleId>& roles, RoleId role) {
  if (std::find(roles.begin(), roles.end(), role) == roles.end()) roles.push_back(role);
}

}  // namespace

Model::Model(const plan::Plan& what, const problem::Problem& prices, const Timing& times)
    : plan(what), costs(prices), timing(times) {
  for (std::size_t v = 0; v < costs.ops().size(); ++v) tasks.push_back(task_of(OpId(v)));
  for (const problem::Dependence& dependence : costs.dependences()) add_dependence(dependence);
}

Task Model::task_of(OpId id) const {
  const problem::Op& op = costs[id];
  const problem::Alternative& alternative =
      op.alternatives[static_cast<std::size_t>(plan.schedule.ops[id.index()].alternative)];
  Task task;
  task.role = plan::role_of(plan, id).value_or(RoleId(0));
  task.mechanism = plan.mechanisms[id.index()];
  task.asynchronous = plan::is_asynchronous(task.mechanism);
  task.at_once = op.streaming && !timing.load_latency;
  task.variable = op.variable_latency;
  if (alternative.unit && alternative.occupancy > 0) task.unit = alternative.unit->index();
  // Issue cycles count only in groups that issue one op at a time.
  const bool one_by_one = costs.in_force(problem::Rule::one_stream);
  task.issue = one_by_one ? static_cast<double>(alternative.issue) : 0;
  if (costs.in_force(problem::Rule::blocking)) task.window = static_cast<double>(alternative.issue);
  task.latency = static_cast<double>(alternative.latency);
  if (op.streaming) task.latency = std::max(task.latency, timing.least_load_latency);
  task.hold = task.unit ? static_cast<double>(alternative.occupancy) : 0;
  if (!timing.shared_pipes) return task;
  for (const problem::PipeUse& use : alternative.pipes) {
    task.hold = std::max(task.hold, static_cast<double>(use.demand));
  }
  task.load = {task.asynchronous, std::vector<double>(costs.pipes().size(), 0)};
  for (const problem::PipeUse& use : alternative.pipes) {
    const bool any = task.hold > 0;
    if (any) task.load.share[use.pipe.index()] = static_cast<double>(use.demand) / task.hold;
  }
  return task;
}

void Model::add_dependence(const problem::Dependence& d) {
  Task& from = tasks[d.from.index()];
  Task& to = tasks[d.to.index()];
  const auto alternative_of = [&](OpId id) -> const problem::Alternative& {
    return costs[id]
        .alternatives[static_cast<std::size_t>(plan.schedule.ops[id.index()].alternative)];
  };
  const bool crosses = from.role != to.role;
  const bool receives = crosses && d.carries_value && costs[d.from].registers > 0;
  to.blocks = to.blocks || ((d.blocking || receives) && costs.in_force(problem::Rule::blocking));
  const auto transfer = crosses ? static_cast<double>(d.transfer) : 0;
  const bool same_queue = !crosses && from.asynchronous && to.asynchronous && from.unit == to.unit;
  if (!same_queue) {
    // Latency of a streaming op: it delays no reader in a schedule, but counts in a run if loads
    // take any.
    const bool waits = costs[d.from].streaming && !d.delay;
    const auto delay =
        waits ? from.latency
              : static_cast<double>(problem::delay_of(d, costs[d.from], alternative_of(d.from)));
    to.operands.push_back(
        {d.from, d.distance, delay, from.latency, transfer, !crosses && !from.asynchronous});
  }
  if (!crosses) return;
  const plan::Value& value = plan.values[d.from.index()];
  const bool in_memory = value.home && plan[*value.home].residence != plan::Residence::registers;
  const auto hold =
      static_cast<double>(problem::read_hold_of(d, costs[d.to], alternative_of(d.to)));
  to.writers.emplace_back(from.role, in_memory ? hold : 0);
  const bool staged =
      d.carries_value && value.staged && plan::read_from(plan, d.from, d.to) == value.staged;
  add_once(staged ? from.staged_readers : from.readers, to.role);
  // Staging time: the transfer without the signal that the barrier sends.
  if (staged) {
    from.staging = std::max(from.staging, transfer - timing.named_barrier_signal);
  }
}

double Model::latency(OpId op, std::int64_t iteration) const {
  const Task& task = tasks[op.index()];
  const bool varies = task.variable || (timing.jitter_all && task.asynchronous);
  if (!timing.jitter || !varies) return task.latency;
  const std::uint64_t bits =
      mixed(*timing.jitter, op.index(), static_cast<std::uint64_t>(iteration));
  const double even = static_cast<double>(bits >> 11U) / static_cast<double>(1ULL << 53U);
  return task.latency * (1 + even * (timing.largest_jitter - 1));
}

}  // namespace twill::simulate
