#include "twill/solve/instance.h"

#include <algorithm>
#include <utility>

#include "twill/schedule/pool_class.h"

namespace twill::solve {
namespace {

using problem::Dependence;
using problem::Op;
using problem::Problem;
using problem::Way;

void fill_tasks(Instance& out) {
  const Problem& problem = *out.problem;
  for (std::size_t i = 0; i < problem.ops().size(); ++i) {
    const Op& op = problem.ops()[i];
    const Way& way = op.ways.front();
    Task task;
    if (way.unit && problem.in_force(Rule::unit) && way.occupancy > 0) task.unit = way.unit->index();
    task.occupancy = way.occupancy;
    task.issue = way.issue;
    task.span = span_of(way);
    task.registers = op.registers;
    out.tasks.push_back(std::move(task));
  }
  for (const schedule::PoolClass& it : schedule::pool_classes(problem)) {
    for (const problem::OpId op : it.ops) {
      for (const problem::GroupId group : it.groups) {
        out.tasks[op.index()].groups.push_back(group.index());
      }
    }
  }
}

void fill_dependences(Instance& out) {
  const Problem& problem = *out.problem;
  out.reads.resize(problem.ops().size());
  for (const Dependence& it : problem.dependences()) {
    const std::size_t from = it.from.index();
    const std::size_t to = it.to.index();
    const Way& from_way = problem[it.from].ways.front();
    const Way& to_way = problem[it.to].ways.front();
    if (problem.in_force(Rule::dependence)) {
      out.precedences.push_back(
          {from, to, it.distance, delay_of(it, problem[it.from], from_way), it.transfer});
    }
    if (out.blocking && it.blocking) out.tasks[to].waits = true;
    if (!it.carries_value) continue;
    out.reads[from].push_back({to, it.distance, read_hold_of(it, problem[it.to], to_way)});
  }
}

void fill_storage(Instance& out) {
  const Problem& problem = *out.problem;
  if (problem.in_force(Rule::memory)) {
    for (const problem::Memory& memory : problem.memories()) {
      out.memories.push_back({memory.capacity, {}});
    }
  }
  for (std::size_t i = 0; i < problem.ops().size(); ++i) {
    if (out.reads[i].empty()) continue;
    const Op& op = problem.ops()[i];
    for (const problem::Footprint& it : op.footprint) {
      if (out.memories.empty() || it.amount == 0) continue;
      out.memories[it.memory.index()].values.push_back({i, it.amount});
    }
    if (problem.in_force(Rule::registers) && op.registers > 0) {
      out.register_values.push_back({i, op.registers});
    }
  }
}

Cycles largest_pipe_load(const Instance& instance) {
  const Problem& problem = *instance.problem;
  if (!problem.in_force(Rule::pipe)) return 0;
  std::vector<Cycles> loads(problem.pipes().size(), 0);
  for (const Op& op : problem.ops()) {
    for (const problem::PipeUse& use : op.ways.front().pipes) loads[use.pipe.index()] += use.demand;
  }
  return loads.empty() ? 0 : *std::max_element(loads.begin(), loads.end());
}

}  // namespace

Instance instance_of(const Problem& problem) {
  Instance out;
  out.problem = &problem;
  out.one_stream = problem.in_force(Rule::one_stream);
  out.blocking = problem.in_force(Rule::blocking);
  fill_tasks(out);
  fill_dependences(out);
  fill_storage(out);
  return out;
}

Cycles load_bound(const Instance& instance) {
  Cycles bound = std::max<Cycles>(1, largest_pipe_load(instance));
  std::vector<Cycles> units(instance.problem->units().size(), 0);
  for (const Task& task : instance.tasks) {
    if (task.unit) bound = std::max(bound, units[*task.unit] += task.occupancy);
    if (instance.one_stream) bound = std::max(bound, task.issue);
  }
  return bound;
}

Cycles decisive_interval(const Instance& instance) {
  std::vector<Cycles> largest(instance.op_count(), 1);
  const auto raise = [&](std::size_t op, Cycles by) { largest[op] = std::max(largest[op], by); };
  for (std::size_t i = 0; i < instance.op_count(); ++i) {
    raise(i, std::max(instance.tasks[i].occupancy, instance.tasks[i].issue));
    for (const Read& read : instance.reads[i]) raise(read.reader, read.hold);
  }
  for (const Precedence& it : instance.precedences) raise(it.from, it.delay + it.transfer);
  Cycles sum = 0;
  for (const Cycles cycles : largest) sum += cycles;
  return std::max(sum, load_bound(instance));
}

}  // namespace twill::solve
