#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "twill/certify/facts.h"
#include "twill/certify/never.h"
#include "twill/problem/problem.h"

/// Arguments that no schedule exists at any interval, beside proofs.
namespace twill::certify {
namespace {

using problem::Alternative;
using problem::Dependence;
using problem::Op;
using problem::Problem;
using problem::Rule;

std::vector<std::size_t> groups_of(const Problem& problem, const Op& op) {
  std::vector<std::size_t> groups;
  for (std::size_t i = 0; i < problem.groups().size(); ++i) {
    const problem::Group& group = problem.groups()[i];
    if (problem.in_force(Rule::width) && op.warps != group.warps) continue;
    if (problem.in_force(Rule::load_group) && op.variable_latency != group.loads) continue;
    groups.push_back(i);
  }
  return groups;
}

/// Facts of a value's life that hold at every interval.
struct Certain {
  bool lives = false;       ///< the value lives for at least one cycle
  std::int64_t always = 0;  ///< copies alive in every cycle
};

/// Facts of a value's life from its readings. Reading by the same op `distance` iterations later
/// keeps `distance` copies alive all the time. Otherwise a dependence keeps the reading at least
/// delay + hold after the issue.
Certain certain_life(const Problem& problem, std::size_t value) {
  Certain life;
  for (const Dependence& it : problem.dependences()) {
    if (it.from.index() != value || !it.carries_value) continue;
    if (it.to == it.from) {
      life.lives = true;
      life.always = std::max<std::int64_t>(life.always, it.distance);
      continue;
    }
    Cycles delay = std::numeric_limits<Cycles>::max();
    Cycles hold = delay;
    for (const Alternative& alternative : problem[it.from].alternatives) {
      delay = std::min(delay, delay_of(it, problem[it.from], alternative));
    }
    for (const Alternative& alternative : problem[it.to].alternatives) {
      hold = std::min(hold, read_hold_of(it, problem[it.to], alternative));
    }
    // Distance D makes no difference here: M(reader) + D * II is at least M(value) + delay, so the
    // end is at least delay + hold after the issue.
    if (problem.in_force(Rule::dependence) && delay + hold > 0) life.lives = true;
  }
  return life;
}

/// Largest amount of some values that certainly lives at one moment: a live value at its issue, and
/// all copies that always live.
template <class Amount>
std::int64_t most_at_once(const Problem& problem, const std::vector<std::size_t>& ops,
                          Amount amount) {
  std::int64_t always = 0;
  for (const std::size_t op : ops) always += amount(op) * certain_life(problem, op).always;
  std::int64_t most = always;
  for (const std::size_t op : ops) {
    const Certain life = certain_life(problem, op);
    if (!life.lives) continue;
    const std::int64_t own = std::max<std::int64_t>(life.always, 1) - life.always;
    most = std::max(most, always + amount(op) * own);
  }
  return most;
}

std::string objection_to_memory(const Problem& problem, std::size_t memory) {
  if (!problem.in_force(Rule::memory)) return "the rule memory is not in force";
  std::vector<std::size_t> ops;
  for (std::size_t op = 0; op < problem.ops().size(); ++op) ops.push_back(op);
  const std::int64_t most = most_at_once(problem, ops, [&](std::size_t op) {
    for (const problem::Footprint& it : problem.ops()[op].footprint) {
      if (it.memory.index() == memory) return it.amount;
    }
    return Amount{0};
  });
  const problem::Memory& it = problem.memories()[memory];
  if (most > it.capacity) return {};
  return fmt::format("{} certainly live in {}, which holds {}", most, it.name, it.capacity);
}

/// Objection to the claim that registers are too few. One op: it must be too large for every group
/// that may run it. Several ops: their values that always live must exceed the registers of the
/// groups that may run them. For a single group: at one moment.
std::string objection_to_registers(const Problem& problem, const std::vector<std::size_t>& ops) {
  if (!problem.in_force(Rule::registers)) return "the rule registers is not in force";
  std::set<std::size_t> groups;
  std::set<std::size_t> seen;
  for (const std::size_t op : ops) {
    if (!seen.insert(op).second) return "an op stands twice";
    for (const std::size_t group : groups_of(problem, problem.ops()[op])) groups.insert(group);
  }
  std::int64_t largest = 0;
  std::int64_t total = 0;
  for (const std::size_t group : groups) {
    largest = std::max<std::int64_t>(largest, problem.groups()[group].registers);
    total += problem.groups()[group].registers;
  }
  const auto amount = [&](std::size_t op) { return std::int64_t{problem.ops()[op].registers}; };
  if (ops.size() == 1 || groups.size() == 1) {
    if (most_at_once(problem, ops, amount) > largest) return {};
  }
  std::int64_t always = 0;
  for (const std::size_t op : ops) always += amount(op) * certain_life(problem, op).always;
  if (always > total) return {};
  return fmt::format("{} registers always live, and the groups have {}", always, total);
}

/// Objection to the claim that too few compute groups can have an op: ops that must share a group
/// fill a single group.
std::string objection_to_few_groups(const Problem& problem) {
  std::vector<std::size_t> set_of(problem.ops().size());
  std::iota(set_of.begin(), set_of.end(), std::size_t{0});
  for (const std::vector<problem::OpId>& set : problem.same_group()) {
    for (const problem::OpId op : set) set_of[op.index()] = set.front().index();
  }
  std::set<std::size_t> apart;  // one op for each compute group that can have ops
  std::int64_t counted = 0;
  for (std::size_t i = 0; i < set_of.size(); ++i) {
    const Op& op = problem.ops()[i];
    const auto groups = groups_of(problem, op);
    const bool may = std::any_of(groups.begin(), groups.end(),
                                 [&](std::size_t group) { return computes(problem, group); });
    if (may) apart.insert(set_of[i]);
    counted += !op.variable_latency && op.warps == compute_width(problem) ? 1 : 0;
  }
  std::int64_t pool = 0;
  for (std::size_t i = 0; i < problem.groups().size(); ++i) pool += computes(problem, i) ? 1 : 0;
  const std::int64_t wanted =
      std::min({std::int64_t{problem.minimum_compute_groups()}, pool, counted});
  const auto usable = static_cast<std::int64_t>(apart.size());
  if (usable < wanted) return {};
  return fmt::format("{} compute groups can have an op, {} must", usable, wanted);
}

}  // namespace

std::string objection_to_reason(const Problem& problem, const Reason& reason) {
  switch (reason.kind) {
    case Reason::Kind::no_group:
      if (groups_of(problem, problem.ops()[reason.index]).empty()) return {};
      return fmt::format("there is a group that may run {}", problem.ops()[reason.index].name);
    case Reason::Kind::too_few_groups:
      return objection_to_few_groups(problem);
    case Reason::Kind::too_large:
      return objection_to_memory(problem, reason.index);
    case Reason::Kind::registers:
      return objection_to_registers(problem, reason.ops);
    default:
      return "this does not show that there is no schedule";
  }
}

}  // namespace twill::certify
