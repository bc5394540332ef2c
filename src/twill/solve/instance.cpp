#include "twill/solve/instance.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "twill/problem/staging.h"
#include "twill/problem/transfer.h"
#include "twill/schedule/analysis.h"
#include "twill/schedule/pool_class.h"

namespace twill::solve {
namespace {

using problem::Alternative;
using problem::Dependence;
using problem::Op;
using problem::Problem;

constexpr Cycles kUnreached = std::numeric_limits<Cycles>::min();

void fill_tasks(Instance& out) {
  const Problem& problem = *out.problem;
  const auto transfer_ops = problem::transfer_ops_of(problem);
  for (std::size_t i = 0; i < problem.ops().size(); ++i) {
    const Op& op = problem.ops()[i];
    const Alternative& alternative = op.alternatives.front();
    Task task;
    if (alternative.unit && problem.in_force(Rule::unit) && alternative.occupancy > 0)
      task.unit = alternative.unit->index();
    task.occupancy = alternative.occupancy;
    task.issue = alternative.issue;
    task.span = span_of(alternative);
    task.registers = op.registers;
    task.home = i;
    if (transfer_ops[i]) {
      task.home = transfer_ops[i]->home.index();
      for (const auto& [value, reader] : transfer_ops[i]->moves) {
        task.moves.emplace_back(value.index(), reader.index());
      }
    }
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
    const Alternative& from_alternative = problem[it.from].alternatives.front();
    const Alternative& to_alternative = problem[it.to].alternatives.front();
    if (problem.in_force(Rule::dependence)) {
      out.precedences.push_back(
          {from, to, it.distance, delay_of(it, problem[it.from], from_alternative), it.transfer});
    }
    if (out.blocking && it.blocking) out.tasks[to].waits = true;
    if (!it.carries_value) continue;
    Read read{to, it.distance, read_hold_of(it, problem[it.to], to_alternative), 0, 0, false};
    if (problem.in_force(Rule::dependence)) {
      read.transfer = it.transfer;
      read.delay = out.precedences.back().delay;
    }
    out.reads[from].push_back(read);
  }
  for (const problem::Transfer& it : problem.transfers()) {
    for (Read& read : out.reads[it.value.index()]) {
      read.transferable = std::any_of(it.loads.begin(), it.loads.end(), [&](const auto& load) {
        return load.reader.index() == read.reader;
      });
    }
  }
}

void fill_storage(Instance& out) {
  const Problem& problem = *out.problem;
  if (problem.in_force(Rule::memory)) {
    for (const problem::Memory& memory : problem.memories()) {
      out.memories.push_back({memory.capacity, {}, {}});
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

void fill_buffers(Instance& out) {
  if (!out.problem->in_force(Rule::placement)) return;
  for (std::size_t memory = 0; memory < out.memories.size(); ++memory) {
    Store& store = out.memories[memory];
    for (const auto& values : schedule::tied_values(*out.problem, problem::MemoryId(memory))) {
      Buffer& buffer = store.buffers.emplace_back();
      for (const problem::OpId op : values) buffer.ops.push_back(op.index());
      for (const Occupant& it : store.values) {
        const bool here = std::count(buffer.ops.begin(), buffer.ops.end(), it.op) > 0;
        if (here) buffer.size = std::max(buffer.size, it.amount);
      }
    }
  }
}

/// Computes the bytes that values take in memory when they change groups.
void fill_staging(Instance& out) {
  const auto memory = problem::staging_memory(*out.problem);
  if (out.memories.empty() || !memory || !out.problem->transfers().empty()) return;
  out.staging = memory->index();
  for (std::size_t i = 0; i < out.op_count(); ++i) {
    const Op& op = out.problem->ops()[i];
    const bool held = op.registers > 0 && op.footprint.empty() && !out.reads[i].empty();
    if (held) out.tasks[i].staged = problem::staged_bytes(op, 1);
  }
}

/// Finds the shortest circuit of reads through `start` among values of its size; the last op first.
Accumulator shortest_circuit(const Instance& instance, std::size_t start) {
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> reached_from(instance.op_count(), kNone);
  std::vector<Cycles> distance(instance.op_count(), 0);
  std::vector<std::size_t> open = {start};
  const std::int64_t size = instance.tasks[start].registers;
  for (std::size_t i = 0; i < open.size(); ++i) {
    for (const Read& read : instance.reads[open[i]]) {
      const bool fits =
          instance.tasks[read.reader].registers == size && !instance.reads[read.reader].empty();
      if (!fits || reached_from[read.reader] != kNone) continue;
      reached_from[read.reader] = open[i];
      distance[read.reader] = read.distance + (open[i] == start ? 0 : distance[open[i]]);
      if (read.reader != start) open.push_back(read.reader);
    }
  }
  Accumulator found{{}, size, distance[start]};
  if (reached_from[start] == kNone) return found;
  std::size_t op = start;
  do {
    op = reached_from[op];
    found.ops.push_back(op);
  } while (op != start);
  return found;
}

void find_accumulators(Instance& out) {
  std::vector<std::uint8_t> taken(out.op_count(), 0);
  for (const Occupant& value : out.register_values) {
    Accumulator found = shortest_circuit(out, value.op);
    const bool free = std::all_of(found.ops.begin(), found.ops.end(),
                                  [&](std::size_t op) { return taken[op] == 0; });
    if (found.ops.size() < 2 || found.distance < 1 || !free) continue;
    for (const std::size_t op : found.ops) taken[op] = 1;
    out.accumulators.push_back(std::move(found));
  }
}

/// Largest demand on one pipe. `least`: of ops that always exist, else of all ops.
Cycles largest_pipe_load(const Instance& instance, bool least) {
  const Problem& problem = *instance.problem;
  if (!problem.in_force(Rule::pipe)) return 0;
  std::vector<Cycles> loads(problem.pipes().size(), 0);
  for (std::size_t i = 0; i < instance.op_count(); ++i) {
    if (least && !instance.tasks[i].always()) continue;
    for (const problem::PipeUse& use : problem.ops()[i].alternatives.front().pipes) {
      loads[use.pipe.index()] += use.demand;
    }
  }
  return loads.empty() ? 0 : *std::max_element(loads.begin(), loads.end());
}

/// Least cycles from the issue of `value` to the issue of each op, by longest paths over ops that
/// always exist. Without an interval: within the same iteration.
std::vector<Cycles> least_after(const Instance& instance, std::size_t value,
                                std::optional<Cycles> ii) {
  std::vector<Cycles> after(instance.op_count(), kUnreached);
  after[value] = 0;
  bool changed = true;
  for (std::size_t round = 0; changed && round < instance.op_count(); ++round) {
    changed = false;
    for (const Precedence& it : instance.precedences) {
      if (!instance.tasks[it.from].always() || !instance.tasks[it.to].always()) continue;
      if (after[it.from] == kUnreached || (!ii && it.distance > 0)) continue;
      const Cycles at = after[it.from] + it.delay - it.distance * ii.value_or(0);
      if (at <= after[it.to]) continue;
      after[it.to] = at;
      changed = true;
    }
  }
  return after;
}

/// Least life of a value. For a value that may be transferred: until its store or all its readers
/// have read it, whichever is less.
Cycles least_lifetime(const Instance& instance, std::size_t value, Cycles ii) {
  const std::vector<Cycles> after = least_after(instance, value, ii);
  Cycles stored = std::numeric_limits<Cycles>::max();
  for (const Read& read : instance.reads[value]) {
    if (!instance.tasks[read.reader].always()) stored = std::min(stored, read.delay + read.hold);
  }
  Cycles least = 0;
  for (const Read& read : instance.reads[value]) {
    if (!instance.tasks[read.reader].always() || after[read.reader] == kUnreached) continue;
    const Cycles end = after[read.reader] + read.distance * ii + read.hold;
    least = std::max(least, read.transferable ? std::min(end, stored) : end);
  }
  return least;
}

/// Least life of the value of a transfer op: at least one of the op's readers exists.
Cycles least_transfer_op(const Instance& instance, std::size_t value) {
  if (!instance.problem->in_force(Rule::dependence)) return 0;  // the reader may come before
  Cycles least = std::numeric_limits<Cycles>::max();
  for (const Read& read : instance.reads[value]) least = std::min(least, read.delay + read.hold);
  return least;
}

}  // namespace

Instance instance_of(const Problem& problem, bool room_for_staging) {
  Instance out;
  out.problem = &problem;
  out.one_stream = problem.in_force(Rule::one_stream);
  out.blocking = problem.in_force(Rule::blocking);
  fill_tasks(out);
  fill_dependences(out);
  fill_storage(out);
  fill_buffers(out);
  find_accumulators(out);
  if (room_for_staging) fill_staging(out);
  return out;
}

std::int64_t staged_bytes(const Instance& instance, std::size_t value, std::size_t group) {
  return instance.tasks[value].staged * instance.problem->groups()[group].warps;
}

bool is_staged(const Instance& instance, const schedule::Schedule& schedule, std::size_t value) {
  if (instance.tasks[value].staged == 0) return false;
  const auto& reads = instance.reads[value];
  return std::any_of(reads.begin(), reads.end(), [&](const Read& read) {
    return schedule.ops[read.reader].group != schedule.ops[value].group;
  });
}

Cycles load_bound(const Instance& instance) {
  Cycles bound = std::max<Cycles>(1, largest_pipe_load(instance, true));
  std::vector<Cycles> units(instance.problem->units().size(), 0);
  for (const Task& task : instance.tasks) {
    if (!task.always()) continue;
    if (task.unit) bound = std::max(bound, units[*task.unit] += task.occupancy);
    if (instance.one_stream) bound = std::max(bound, task.issue);
  }
  return bound;
}

std::vector<Precedence> longest_paths(const Instance& instance) {
  std::vector<Precedence> paths;
  for (std::size_t from = 0; from < instance.op_count(); ++from) {
    const std::vector<Cycles> after = least_after(instance, from, std::nullopt);
    std::vector<Cycles> direct(instance.op_count(), kUnreached);
    for (const Precedence& it : instance.precedences) {
      const bool always = instance.tasks[it.from].always() && instance.tasks[it.to].always();
      if (it.from != from || it.distance > 0 || !always) continue;
      direct[it.to] = std::max(direct[it.to], it.delay);
    }
    for (std::size_t to = 0; to < instance.op_count(); ++to) {
      if (to != from && after[to] > direct[to]) paths.push_back({from, to, 0, after[to], 0});
    }
  }
  return paths;
}

std::vector<Cycles> least_lifetimes(const Instance& instance, Cycles ii) {
  std::vector<Cycles> lifetimes(instance.op_count(), 0);
  for (std::size_t value = 0; value < instance.op_count(); ++value) {
    if (instance.reads[value].empty()) continue;
    lifetimes[value] = instance.tasks[value].always() ? least_lifetime(instance, value, ii)
                                                      : least_transfer_op(instance, value);
  }
  return lifetimes;
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
  return std::max({sum, load_bound(instance), largest_pipe_load(instance, false)});
}

}  // namespace twill::solve
