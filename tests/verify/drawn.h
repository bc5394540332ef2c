#pragma once

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "twill/problem/problem.h"
#include "twill/verify/verify.h"

/// Tiny problems drawn by hand, for tests of rules.
namespace twill::verify {

using problem::Dependence;
using problem::GroupId;
using problem::MemoryId;
using problem::PipeId;
using problem::Rule;
using problem::UnitId;

/// Parts, with short functions that add to them. Ops are four warps wide and synchronous, without
/// unit, registers or footprint unless stated.
class Drawn {
 public:
  problem::Parts parts;

  Drawn() { parts.name = "drawn"; }

  UnitId unit(std::string name) {
    parts.units.push_back({std::move(name)});
    return UnitId(parts.units.size() - 1);
  }
  PipeId pipe(std::string name) {
    parts.pipes.push_back({std::move(name)});
    return PipeId(parts.pipes.size() - 1);
  }
  MemoryId memory(std::string name, Amount capacity) {
    parts.memories.push_back({std::move(name), capacity});
    return MemoryId(parts.memories.size() - 1);
  }
  GroupId group(std::string name, int registers = 1000, int warps = 4, bool loads = false) {
    parts.groups.push_back({std::move(name), warps, registers, loads});
    return GroupId(parts.groups.size() - 1);
  }
  /// Adds an op without a unit.
  OpId op(std::string name, Cycles latency = 0, Cycles issue = 0) {
    problem::Op op;
    op.name = std::move(name);
    op.alternatives.push_back({"", std::nullopt, 0, latency, issue, {}});
    parts.ops.push_back(std::move(op));
    return OpId(parts.ops.size() - 1);
  }
  OpId on_unit(std::string name, UnitId unit, Cycles occupancy) {
    const OpId id = op(std::move(name));
    alternative(id).unit = unit;
    alternative(id).occupancy = occupancy;
    return id;
  }
  problem::Op& operator[](OpId id) { return parts.ops[id.index()]; }
  problem::Alternative& alternative(OpId id) { return parts.ops[id.index()].alternatives.front(); }

  /// Adds a dependence. The reference is valid until the next edge is added.
  Dependence& edge(OpId from, OpId to, Cycles delay, int distance = 0) {
    Dependence dependence;
    dependence.from = from;
    dependence.to = to;
    dependence.delay = delay;
    dependence.distance = distance;
    parts.dependences.push_back(dependence);
    return parts.dependences.back();
  }
  void relax(Rule rule) { parts.relaxed.push_back(rule); }

  Problem problem() const {
    Result<Problem> posed = problem::pose(parts);
    if (!posed) ADD_FAILURE() << to_string(posed.error());
    return *posed;
  }
};

/// Placement at `cycle`; in group 0 and by the first alternative unless stated.
struct At {
  Cycles cycle = 0;
  GroupId group = {};
  int alternative = 0;
};

inline Schedule issued(Cycles interval, const std::vector<At>& ops) {
  Schedule schedule{interval, {}};
  for (const At& op : ops) schedule.ops.push_back({op.cycle, op.group, op.alternative});
  return schedule;
}

/// Names of the broken rules, one per violation, in the order reported.
inline std::vector<std::string> broken(const Problem& problem, const Schedule& schedule) {
  const auto checked = verify(problem, schedule);
  std::vector<std::string> rules;
  if (checked) return rules;
  for (const Violation& violation : checked.error()) rules.push_back(violation.rule);
  return rules;
}

using Rules = std::vector<std::string>;

/// Message of the only violation.
inline std::string complaint(const Problem& problem, const Schedule& schedule) {
  const auto checked = verify(problem, schedule);
  if (checked) return "(no violation)";
  EXPECT_EQ(checked.error().size(), 1U);
  return checked.error().front().message;
}

}  // namespace twill::verify
