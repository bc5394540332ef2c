#include "twill/schedule/order.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "twill/problem/problem.h"

namespace twill::schedule {
namespace {

using problem::Alternative;
using problem::Problem;
using problem::UnitId;

const Alternative& alternative_of(const Problem& problem, const Order& order, OpId op) {
  return problem[op].alternatives[static_cast<std::size_t>(order.ops[op.index()].alternative)];
}

/// Ops whose chosen alternative holds `unit`, by id.
std::vector<OpId> users_of(const Problem& problem, const Order& order, UnitId unit) {
  std::vector<OpId> users;
  for (std::size_t i = 0; i < order.ops.size(); ++i) {
    const Alternative& alternative = alternative_of(problem, order, OpId(i));
    if (alternative.unit == unit && alternative.occupancy > 0) users.push_back(OpId(i));
  }
  return users;
}

Result<void> check_steps(const Problem& problem, const Order& order) {
  if (order.ops.size() != problem.ops().size() || order.groups.size() != problem.groups().size() ||
      order.units.size() != problem.units().size()) {
    return fail(
        {}, fmt::format("the order is for {} ops, {} groups and {} units; loop '{}' has "
                        "{}, {} and {}",
                        order.ops.size(), order.groups.size(), order.units.size(), problem.name(),
                        problem.ops().size(), problem.groups().size(), problem.units().size()));
  }
  for (std::size_t i = 0; i < order.ops.size(); ++i) {
    const Step& step = order.ops[i];
    const problem::Op& op = problem.ops()[i];
    if (step.stage < 0 || step.stage > kLargestStage) {
      return fail({}, fmt::format("op '{}' is in stage {}; stages are 0 to {}", op.name, step.stage,
                                  kLargestStage));
    }
    if (step.alternative < 0 ||
        static_cast<std::size_t>(step.alternative) >= op.alternatives.size()) {
      return fail({}, fmt::format("op '{}' has no alternative {}", op.name, step.alternative));
    }
    if (step.group.index() >= problem.groups().size()) {
      return fail({}, fmt::format("op '{}' is in a group that the pool does not have", op.name));
    }
  }
  return {};
}

/// Lists the ops' names: " qk pv0 pv1".
std::string words_of(const Problem& problem, const std::vector<OpId>& ops) {
  std::string words;
  for (const OpId op : ops) words += " " + problem[op].name;
  return words.empty() ? " none" : words;
}

/// Checks that `sequence` names exactly `members`, each once. Precondition: `members` is sorted.
Result<void> check_sequence(const Problem& problem, const std::string& whose,
                            std::vector<OpId> sequence, const std::vector<OpId>& members) {
  std::sort(sequence.begin(), sequence.end());
  const auto twice = std::adjacent_find(sequence.begin(), sequence.end());
  if (!sequence.empty() && sequence.back().index() >= problem.ops().size()) {
    return fail({},
                fmt::format("the sequence of {} names an op that the loop does not have", whose));
  }
  if (twice != sequence.end()) {
    return fail(
        {}, fmt::format("op '{}' stands twice in the sequence of {}", problem[*twice].name, whose));
  }
  std::vector<OpId> odd;
  std::set_symmetric_difference(sequence.begin(), sequence.end(), members.begin(), members.end(),
                                std::back_inserter(odd));
  if (odd.empty()) return {};
  const bool missing = std::binary_search(members.begin(), members.end(), odd.front());
  return fail({},
              fmt::format("op '{}' {} the sequence of {}", problem[odd.front()].name,
                          missing ? "is missing from" : "does not belong into", whose),
              fmt::format("its ops are{}", words_of(problem, members)));
}

Result<void> check_groups(const Problem& problem, const Order& order) {
  std::vector<std::vector<OpId>> members(problem.groups().size());
  for (std::size_t i = 0; i < order.ops.size(); ++i) {
    members[order.ops[i].group.index()].push_back(OpId(i));
  }
  for (std::size_t g = 0; g < members.size(); ++g) {
    const std::string whose = "group '" + problem.groups()[g].name + "'";
    TWILL_TRY_VOID(check_sequence(problem, whose, order.groups[g], members[g]));
  }
  return {};
}

/// Sequence of a unit that only one group uses, as the group's sequence implies it.
Result<std::vector<OpId>> implied_sequence(const Problem& problem, const Order& order, UnitId unit,
                                           const std::vector<OpId>& users) {
  std::vector<OpId> sequence;
  if (users.empty()) return sequence;
  const GroupId group = order.ops[users.front().index()].group;
  for (const OpId op : users) {
    if (order.ops[op.index()].group == group) continue;
    return fail({},
                fmt::format("unit '{}' is used by several groups, but the order has no "
                            "sequence for it",
                            problem[unit].name),
                fmt::format("add a line, in the order in which they hold it: `unit {}:{}`",
                            problem[unit].name, words_of(problem, users)));
  }
  for (const OpId op : order.groups[group.index()]) {
    if (std::binary_search(users.begin(), users.end(), op)) sequence.push_back(op);
  }
  return sequence;
}

}  // namespace

Order order_of(const Problem& problem, const Schedule& schedule) {
  Order order;
  order.groups.resize(problem.groups().size());
  order.units.resize(problem.units().size());
  std::vector<OpId> by_slot;
  for (std::size_t i = 0; i < schedule.ops.size(); ++i) {
    const Placement& at = schedule.ops[i];
    const Cycles stage = std::min<Cycles>(stage_of(schedule, OpId(i)), kLargestStage + 1);
    order.ops.push_back({static_cast<int>(stage), at.group, at.alternative});
    by_slot.push_back(OpId(i));
  }
  std::stable_sort(by_slot.begin(), by_slot.end(),
                   [&](OpId a, OpId b) { return slot_of(schedule, a) < slot_of(schedule, b); });
  for (const OpId op : by_slot) {
    const Alternative& alternative = alternative_of(problem, order, op);
    order.groups[order.ops[op.index()].group.index()].push_back(op);
    if (alternative.unit && alternative.occupancy > 0)
      order.units[alternative.unit->index()].push_back(op);
  }
  return order;
}

Result<Order> completed(const Problem& problem, Order order) {
  TWILL_TRY_VOID(check_steps(problem, order));
  TWILL_TRY_VOID(check_groups(problem, order));
  for (std::size_t u = 0; u < order.units.size(); ++u) {
    const std::vector<OpId> users = users_of(problem, order, UnitId(u));
    if (order.units[u].empty()) {
      TWILL_TRY(order.units[u], implied_sequence(problem, order, UnitId(u), users));
      continue;
    }
    const std::string whose = "unit '" + problem.units()[u].name + "'";
    TWILL_TRY_VOID(check_sequence(problem, whose, order.units[u], users));
  }
  return order;
}

}  // namespace twill::schedule
