#pragma once

#include <string>

#include <rapidcheck.h>

#include "twill/problem/problem.h"

namespace twill::schedule {

/// Limits of a random loop.
struct RandomLoop {
  int most_ops = 6;
  int most_dependences = 10;
  int most_alternatives = 3;
};

/// Draws an integer in [least, most] from rapidcheck. Call it inside a property.
inline int any(int least, int most) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(least, most + 1));
}

inline bool any_flag() { return any(0, 1) == 1; }

inline std::size_t any_index(std::size_t size) {
  return static_cast<std::size_t>(any(0, static_cast<int>(size) - 1));
}

inline problem::Alternative any_way(const problem::Parts& parts) {
  problem::Alternative alternative;
  if (any_flag()) {
    alternative.unit = problem::UnitId(any_index(parts.units.size()));
    alternative.occupancy = any(1, 9);
  }
  alternative.latency = any(0, 9);
  alternative.issue = any(0, 3);
  for (std::size_t i = 0; i < parts.pipes.size(); ++i) {
    if (any_flag()) alternative.pipes.push_back({problem::PipeId(i), any(0, 9)});
  }
  return alternative;
}

inline problem::Op any_op(const problem::Parts& parts, int most_alternatives) {
  problem::Op op;
  op.name = "op" + std::to_string(parts.ops.size());
  const int alternative_count = any(1, most_alternatives);
  for (int i = 0; i < alternative_count; ++i) {
    op.alternatives.push_back(any_way(parts));
    if (alternative_count > 1 || any(0, 9) == 0)
      op.alternatives.back().name = "w" + std::to_string(i);
  }
  op.warps = any_flag() ? 4 : any(1, 8);
  op.registers = any(0, 2) * 32;
  for (std::size_t i = 0; i < parts.memories.size(); ++i) {
    if (any_flag()) op.footprint.push_back({problem::MemoryId(i), any(0, 9)});
  }
  op.asynchronous = any_flag();
  op.variable_latency = any(0, 3) == 0;
  op.streaming = op.variable_latency && any_flag();
  const int sources = any(0, 2);
  for (int i = 0; i < sources; ++i) {
    op.source.push_back(*rc::gen::string<std::string>());
  }
  return op;
}

/// Draws a dependence; with distance 0 it leads to a later op, so there is no circuit to refuse.
inline problem::Dependence any_dependence(const problem::Parts& parts) {
  problem::Dependence it;
  it.from = problem::OpId(any_index(parts.ops.size()));
  it.to = problem::OpId(any_index(parts.ops.size()));
  it.distance = it.from < it.to ? any(0, 2) : any(1, 3);
  if (any_flag()) it.delay = any(0, 20);
  it.blocking = any_flag();
  const bool may_carry = !parts.ops[it.to.index()].streaming || it.from == it.to;
  it.carries_value = may_carry && any(0, 3) != 0;
  if (it.carries_value && any_flag()) it.read_hold = any(0, 9);
  it.in_place = it.carries_value && any(0, 3) == 0;
  it.transfer = any_flag() ? any(0, 99) : 0;
  return it;
}

/// Draws Parts that pose accepts, with every feature of the format.
inline problem::Parts any_parts(const RandomLoop& limits = {}) {
  problem::Parts parts;
  parts.name = "random";
  parts.units = {{"TC"}, {"TMA"}};
  if (any_flag()) parts.pipes = {{"ALU", any_flag()}, {"MUFU", any_flag()}};
  if (any_flag()) parts.memories = {{"SMEM", any(1, 100)}, {"TMEM", any(1, 100)}};
  const int groups = any(1, 3);
  for (int i = 0; i < groups; ++i) {
    parts.groups.push_back(
        {"g" + std::to_string(i), any_flag() ? 4 : any(1, 8), any(0, 200), any(0, 3) == 0});
  }
  const int ops = any(1, limits.most_ops);
  for (int i = 0; i < ops; ++i) parts.ops.push_back(any_op(parts, limits.most_alternatives));
  const int dependences = any(0, limits.most_dependences);
  for (int i = 0; i < dependences; ++i) parts.dependences.push_back(any_dependence(parts));
  for (int rule = 0; rule < problem::kRuleCount; ++rule) {
    if (any(0, 5) == 0) parts.relaxed.push_back(static_cast<problem::Rule>(rule));
  }
  if (any(0, 3) == 0) parts.objectives.pop_back();
  if (any(0, 3) == 0) parts.objectives.clear();
  parts.minimum_compute_groups = any(0, 3);
  for (std::size_t i = 0; i + 1 < parts.ops.size() && any_flag(); i += 2) {
    parts.same_group.push_back({problem::OpId(i), problem::OpId(i + 1)});
  }
  if (parts.groups.size() >= 2 && any_flag()) {
    problem::RegisterBudget budget{{}, 0, any(1, 8), any(0, 30)};
    for (std::size_t i = 0; i < parts.groups.size(); ++i) budget.groups.emplace_back(i);
    const auto reserved = static_cast<int>(budget.steps_for(0) * budget.step);
    budget.total = static_cast<int>(parts.groups.size()) * reserved + any(0, 200);
    parts.register_budgets.push_back(std::move(budget));
  }
  return parts;
}

}  // namespace twill::schedule
