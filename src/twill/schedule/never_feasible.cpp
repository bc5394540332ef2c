#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "twill/problem/compute_groups.h"
#include "twill/problem/transfer.h"
#include "twill/schedule/bounds.h"
#include "twill/schedule/pool_class.h"

namespace twill::schedule {
namespace {

using problem::Alternative;
using problem::Dependence;
using problem::Op;
using problem::Problem;
using problem::Rule;

using Argument = std::optional<std::string>;

/// Lower bound on the life of an op's result, over all schedules. Without a reader, or if the last
/// read may end at the value's issue, the value may occupy no memory.
struct LeastLife {
  bool certain = false;     ///< the value lives for at least one cycle
  std::int64_t always = 0;  ///< copies alive in every cycle of the steady state
};

/// Fewest cycles between the issue of the value and the end of this read, at any II, in a schedule
/// that keeps the dependence.
Cycles shortest_read(const Problem& problem, const Dependence& it) {
  Cycles hold = std::numeric_limits<Cycles>::max();
  for (const Alternative& alternative : problem[it.to].alternatives) {
    hold = std::min(hold, read_hold_of(it, problem[it.to], alternative));
  }
  Cycles delay = std::numeric_limits<Cycles>::max();
  for (const Alternative& alternative : problem[it.from].alternatives) {
    delay = std::min(delay, delay_of(it, problem[it.from], alternative));
  }
  return delay + hold;
}

std::vector<LeastLife> least_lives_of(const Problem& problem) {
  std::vector<LeastLife> lives(problem.ops().size());
  for (const Dependence& it : problem.dependences()) {
    if (!it.carries_value) continue;
    LeastLife& life = lives[it.from.index()];
    if (it.from == it.to) {
      // Copies of an op that reads its own value of `distance` iterations before: `distance` of
      // them are always alive.
      life.certain = true;
      life.always = std::max(life.always, std::int64_t{it.distance});
    } else if (problem.in_force(Rule::dependence) && shortest_read(problem, it) > 0) {
      life.certain = true;
    }
  }
  return lives;
}

/// Whether the certain values of `ops` exceed `capacity`. At the issue of such a value, the value
/// lives beside every copy that always lives.
template <class AmountOf>
Argument overfull(const Problem& problem, const std::vector<LeastLife>& lives,
                  const std::vector<OpId>& ops, std::int64_t capacity, AmountOf amount_of,
                  std::string_view where) {
  std::int64_t always = 0;
  for (const OpId op : ops) always += amount_of(problem[op]) * lives[op.index()].always;
  for (const OpId op : ops) {
    const std::int64_t amount = amount_of(problem[op]);
    const LeastLife& life = lives[op.index()];
    if (!life.certain || amount == 0) continue;
    const std::int64_t others = always - amount * life.always;
    const std::int64_t own = amount * std::max<std::int64_t>(life.always, 1);
    if (own + others <= capacity) continue;
    std::string text = fmt::format("the result of {} takes {} of the {} {}", problem[op].name, own,
                                   capacity, where);
    if (others > 0)
      text += fmt::format(", and values carried around the loop always take {}", others);
    return text;
  }
  return {};
}

std::vector<OpId> all_ops(const Problem& problem) {
  std::vector<OpId> ops;
  for (std::size_t i = 0; i < problem.ops().size(); ++i) ops.emplace_back(i);
  return ops;
}

Argument check_memories(const Problem& problem, const std::vector<LeastLife>& lives) {
  if (!problem.in_force(Rule::memory)) return {};
  const std::vector<OpId> ops = all_ops(problem);
  for (std::size_t m = 0; m < problem.memories().size(); ++m) {
    const problem::Memory& memory = problem.memories()[m];
    const auto amount_in = [&](const Op& op) {
      for (const problem::Footprint& it : op.footprint) {
        if (it.memory.index() == m) return it.amount;
      }
      return Amount{0};
    };
    if (Argument why = overfull(problem, lives, ops, memory.capacity, amount_in,
                                "there are in memory " + memory.name)) {
      return why;
    }
  }
  return {};
}

/// Checks a class of several groups: each value may lie in the largest group, and the copies that
/// always live in all groups.
Argument check_several_groups(const Problem& problem, const std::vector<LeastLife>& lives,
                              const PoolClass& it) {
  std::int64_t largest = 0;
  std::int64_t total = 0;
  for (const GroupId group : it.groups) {
    largest = std::max<std::int64_t>(largest, problem[group].registers);
    total += problem[group].registers;
  }
  std::int64_t always = 0;
  for (const OpId op : it.ops) {
    const LeastLife& life = lives[op.index()];
    const std::int64_t own = problem[op].registers * std::max<std::int64_t>(life.always, 1);
    always += problem[op].registers * life.always;
    if (!life.certain || own <= largest) continue;
    return fmt::format(
        "the result of {} takes {} registers per thread, and no group of the {} has "
        "more than {}",
        problem[op].name, own, it.description, largest);
  }
  if (always <= total) return {};
  return fmt::format(
      "values carried around the loop always take {} registers per thread, and the "
      "{} have {} together",
      always, it.description, total);
}

Argument check_registers(const Problem& problem, const std::vector<LeastLife>& lives,
                         const std::vector<PoolClass>& classes) {
  if (!problem.in_force(Rule::registers)) return {};
  for (const PoolClass& it : classes) {
    if (it.groups.size() > 1) {
      if (Argument why = check_several_groups(problem, lives, it)) return why;
      continue;
    }
    if (it.groups.empty()) continue;
    const problem::Group& group = problem[it.groups.front()];
    const auto registers = [](const Op& op) { return std::int64_t{op.registers}; };
    if (Argument why = overfull(
            problem, lives, it.ops, group.registers, registers,
            "registers per thread of " + group.name + ", the only one of the " + it.description)) {
      return why;
    }
  }
  return {};
}

Argument check_eligible(const Problem& problem, const std::vector<PoolClass>& classes) {
  for (const PoolClass& it : classes) {
    if (it.ops.empty() || !it.groups.empty()) continue;
    return fmt::format("{} can run in {} only, and the pool has none", problem[it.ops.front()].name,
                       it.description);
  }
  return {};
}

/// Checks whether ops that must share a group leave too few ops for the compute groups. The rule
/// minimum-groups already asks for no more groups than there are compute ops.
Argument check_minimum_groups(const Problem& problem, const std::vector<PoolClass>& classes) {
  const problem::Parts& parts = problem.parts();
  std::vector<bool> may_compute(parts.ops.size(), false);
  for (const PoolClass& it : classes) {
    const bool computes = std::any_of(it.groups.begin(), it.groups.end(), [&](GroupId group) {
      return problem::is_compute_group(parts, problem[group]);
    });
    for (const OpId op : it.ops) may_compute[op.index()] = computes;
  }
  auto usable = std::count(may_compute.begin(), may_compute.end(), true);
  for (const std::vector<OpId>& set : problem.same_group()) {
    usable -= std::max<std::ptrdiff_t>(0, std::count_if(set.begin(), set.end(), [&](OpId op) {
                                            return may_compute[op.index()];
                                          }) - 1);
  }
  const int asked = problem::wanted_compute_groups(parts);
  if (usable >= asked) return {};
  return fmt::format("at least {} compute groups must have an op, and only {} can have one", asked,
                     usable);
}

}  // namespace

std::optional<std::string> never_feasible(const Problem& problem) {
  if (!problem.transfers().empty()) return never_feasible(problem::common_part(problem).problem);
  const std::vector<PoolClass> classes = pool_classes(problem);
  if (Argument why = check_eligible(problem, classes)) return why;
  const std::vector<LeastLife> lives = least_lives_of(problem);
  if (Argument why = check_memories(problem, lives)) return why;
  if (Argument why = check_registers(problem, lives, classes)) return why;
  return check_minimum_groups(problem, classes);
}

}  // namespace twill::schedule
