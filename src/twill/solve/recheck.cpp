#include "twill/solve/recheck.h"

#include <algorithm>

#include "twill/problem/problem.h"
#include "twill/support/whole_division.h"

namespace twill::solve {
namespace {

using schedule::Schedule;

bool share_group(const Schedule& schedule, std::size_t a, std::size_t b) {
  return schedule.ops[a].group == schedule.ops[b].group;
}

/// Cycles from the issue of `a` to the next issue of `b`, modulo II.
Cycles until(const Schedule& schedule, std::size_t a, std::size_t b) {
  return modulo(schedule.ops[b].issue - schedule.ops[a].issue, schedule.initiation_interval);
}

bool keeps_precedences(const Instance& instance, const Schedule& schedule) {
  return std::all_of(
      instance.precedences.begin(), instance.precedences.end(), [&](const Precedence& it) {
        const Cycles transfer = share_group(schedule, it.from, it.to) ? 0 : it.transfer;
        const Cycles apart = schedule.ops[it.to].issue - schedule.ops[it.from].issue;
        return apart + it.distance * schedule.initiation_interval >= it.delay + transfer;
      });
}

bool keeps_same_group(const Instance& instance, const Schedule& schedule) {
  const auto sets = instance.problem->same_group();
  return std::all_of(sets.begin(), sets.end(), [&](const std::vector<problem::OpId>& ops) {
    return std::all_of(ops.begin(), ops.end(), [&](problem::OpId op) {
      return share_group(schedule, ops.front().index(), op.index());
    });
  });
}

/// Whether `a`, while it is issued or works, leaves free the resources that another op `b` needs at
/// its issue. `waits`: `b` is a waiting op.
bool keeps_pair(const Instance& instance, const Schedule& schedule, std::size_t a, std::size_t b,
                bool waits) {
  const Task& task_a = instance.tasks[a];
  const Task& task_b = instance.tasks[b];
  const Cycles apart = until(schedule, a, b);
  if (task_a.unit && task_a.unit == task_b.unit && apart < task_a.occupancy) return false;
  if (!share_group(schedule, a, b) || apart >= task_a.issue) return true;
  return !waits && !(instance.one_stream && task_b.issue > 0);
}

}  // namespace

Cycles copies_alive(const Instance& instance, const Schedule& schedule, std::size_t value,
                    std::size_t event) {
  const Cycles ii = schedule.initiation_interval;
  const Cycles now = schedule.ops[event].issue;
  const Cycles begin = schedule.ops[value].issue;
  Cycles end = begin;
  for (const Read& read : instance.reads[value]) {
    end = std::max(end, schedule.ops[read.reader].issue + read.distance * ii + read.hold);
  }
  return floor_divide(now - begin, ii) - floor_divide(now - end, ii);
}

namespace {

/// Amount alive when `event` is issued. With `by_group`: the values that its group made.
std::int64_t load_at(const Instance& instance, const Schedule& schedule,
                     const std::vector<Occupant>& values, std::size_t event, bool by_group) {
  std::int64_t sum = 0;
  for (const Occupant& value : values) {
    if (by_group && !share_group(schedule, value.op, event)) continue;
    sum += value.amount * copies_alive(instance, schedule, value.op, event);
  }
  return sum;
}

/// Bytes of the memory in which values wait that change groups.
std::int64_t staged_in(const Instance& instance, const Schedule& schedule, std::size_t memory) {
  std::int64_t sum = 0;
  if (instance.staging != memory) return sum;
  for (std::size_t op = 0; op < instance.op_count(); ++op) {
    if (!is_staged(instance, schedule, op)) continue;
    sum += staged_bytes(instance, op, schedule.ops[op].group.index());
  }
  return sum;
}

bool fits_memories(const Instance& instance, const Schedule& schedule) {
  for (std::size_t number = 0; number < instance.memories.size(); ++number) {
    const Store& memory = instance.memories[number];
    const std::int64_t left = memory.capacity - staged_in(instance, schedule, number);
    const bool fits =
        std::all_of(memory.values.begin(), memory.values.end(), [&](const Occupant& event) {
          return load_at(instance, schedule, memory.values, event.op, false) <= left;
        });
    if (left < 0 || !fits) return false;
  }
  return true;
}

/// Whether registers fit the limits of groups, and the needs of a budget's groups fit the budget.
bool fits_registers(const Instance& instance, const Schedule& schedule) {
  if (!instance.problem->in_force(Rule::registers)) return true;
  std::vector<std::int64_t> peaks(instance.group_count(), 0);
  for (const Occupant& event : instance.register_values) {
    std::int64_t& peak = peaks[schedule.ops[event.op].group.index()];
    const auto load = load_at(instance, schedule, instance.register_values, event.op, true);
    peak = std::max(peak, load);
  }
  for (std::size_t group = 0; group < peaks.size(); ++group) {
    if (peaks[group] > instance.problem->groups()[group].registers) return false;
  }
  const auto budgets = instance.problem->register_budgets();
  return std::all_of(budgets.begin(), budgets.end(), [&](const problem::RegisterBudget& budget) {
    std::int64_t steps = 0;
    for (const problem::GroupId group : budget.groups) {
      steps += budget.steps_for(peaks[group.index()]);
    }
    return steps <= budget.steps();
  });
}

}  // namespace

std::vector<std::uint8_t> waiting_in(const Instance& instance, const Schedule& schedule) {
  std::vector<std::uint8_t> waiting(instance.op_count(), 0);
  if (!instance.blocking) return waiting;
  for (std::size_t op = 0; op < instance.op_count(); ++op) {
    if (instance.tasks[op].waits) waiting[op] = 1;
    if (instance.tasks[op].registers == 0) continue;
    for (const Read& read : instance.reads[op]) {
      if (!share_group(schedule, op, read.reader)) waiting[read.reader] = 1;
    }
  }
  return waiting;
}

bool keeps_order(const Instance& instance, const Schedule& schedule) {
  if (schedule.initiation_interval < load_bound(instance)) return false;
  if (!keeps_precedences(instance, schedule)) return false;
  if (!keeps_same_group(instance, schedule)) return false;
  const std::vector<std::uint8_t> waiting = waiting_in(instance, schedule);
  for (std::size_t a = 0; a < instance.op_count(); ++a) {
    const auto& allowed = instance.tasks[a].groups;
    const std::size_t group = schedule.ops[a].group.index();
    if (std::find(allowed.begin(), allowed.end(), group) == allowed.end()) return false;
    for (std::size_t b = 0; b < instance.op_count(); ++b) {
      if (a != b && !keeps_pair(instance, schedule, a, b, waiting[b] != 0)) return false;
    }
  }
  return true;
}

bool fits_storage(const Instance& instance, const Schedule& schedule) {
  return fits_memories(instance, schedule) && fits_registers(instance, schedule);
}

}  // namespace twill::solve
