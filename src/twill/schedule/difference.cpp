#include "twill/schedule/difference.h"

#include <algorithm>
#include <utility>

#include "twill/problem/problem.h"

namespace twill::schedule {
namespace {

using problem::Alternative;
using problem::Problem;

/// Pair of a group of the schedule and a group of the model, with the number of ops in both.
struct Overlap {
  std::size_t from = 0;
  std::size_t to = 0;
  std::size_t ops = 0;
};

std::vector<Overlap> overlaps(const Problem& problem, const Schedule& schedule,
                              const Schedule& model) {
  std::vector<Overlap> all;
  for (std::size_t from = 0; from < problem.groups().size(); ++from) {
    for (std::size_t to = 0; to < problem.groups().size(); ++to) {
      if (kind_of(problem, GroupId(from)) != kind_of(problem, GroupId(to))) continue;
      Overlap it{from, to, 0};
      for (std::size_t op = 0; op < schedule.ops.size(); ++op) {
        const bool both =
            schedule.ops[op].group.index() == from && model.ops[op].group.index() == to;
        it.ops += both ? 1 : 0;
      }
      all.push_back(it);
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Overlap& a, const Overlap& b) { return a.ops > b.ops; });
  return all;
}

}  // namespace

GroupKind kind_of(const Problem& problem, GroupId group) {
  const problem::Group& it = problem[group];
  return {it.warps, it.registers, it.loads, problem.budget_of(group)};
}

bool has_round(const Problem& problem, const Schedule& schedule, OpId a, OpId b) {
  const Alternative& of_a = alternative_of(problem, schedule, a);
  const bool exist = schedule.ops[a.index()].exists && schedule.ops[b.index()].exists;
  return exist && problem.in_force(problem::Rule::unit) && of_a.unit &&
         of_a.unit == alternative_of(problem, schedule, b).unit && !problem[a].streaming &&
         !problem[b].streaming;
}

std::int64_t round_after(const Schedule& schedule, OpId a, OpId b) {
  const Cycles ii = schedule.initiation_interval;
  const Cycles apart = schedule.ops[b.index()].issue - schedule.ops[a.index()].issue;
  return apart / ii - (apart % ii < 0 ? 1 : 0);
}

Schedule aligned(const Problem& problem, const Schedule& schedule, const Schedule& model) {
  const std::size_t groups = problem.groups().size();
  std::vector<std::size_t> to(groups, groups);
  std::vector<bool> taken(groups, false);
  for (const Overlap& it : overlaps(problem, schedule, model)) {
    if (to[it.from] != groups || taken[it.to]) continue;
    to[it.from] = it.to;
    taken[it.to] = true;
  }
  Schedule out = schedule;
  for (Placement& at : out.ops) at.group = GroupId(to[at.group.index()]);
  return out;
}

std::vector<Difference> differences(const Problem& problem, const Schedule& schedule,
                                    const Schedule& model) {
  using Kind = Difference::Kind;
  std::vector<Difference> alternatives;
  std::vector<Difference> groups;
  std::vector<Difference> orders;
  for (std::size_t i = 0; i < schedule.ops.size(); ++i) {
    const OpId op(i);
    const Placement& is = schedule.ops[i];
    const Placement& was = model.ops[i];
    if (!is.exists || !was.exists) continue;
    if (is.alternative != was.alternative)
      alternatives.push_back({Kind::alternative, op, op, is.alternative, was.alternative});
    if (is.group != was.group) {
      groups.push_back({Kind::group, op, op, static_cast<std::int64_t>(is.group.index()),
                        static_cast<std::int64_t>(was.group.index())});
    }
    for (std::size_t j = i + 1; j < schedule.ops.size(); ++j) {
      const OpId other(j);
      if (!has_round(problem, schedule, op, other) || !has_round(problem, model, op, other)) {
        continue;
      }
      const std::int64_t round = round_after(schedule, other, op);
      const std::int64_t before = round_after(model, other, op);
      if (round != before) orders.push_back({Kind::order, op, other, round, before});
    }
  }
  alternatives.insert(alternatives.end(), groups.begin(), groups.end());
  alternatives.insert(alternatives.end(), orders.begin(), orders.end());
  return alternatives;
}

}  // namespace twill::schedule
