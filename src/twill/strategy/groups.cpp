#include "twill/strategy/groups.h"

#include <algorithm>
#include <optional>
#include <string>

#include "twill/problem/compute_groups.h"
#include "twill/problem/problem.h"

namespace twill::strategy {
namespace {

using problem::OpId;
using problem::Problem;

std::vector<GroupId> groups_where(const Problem& problem, bool loads, int warps) {
  std::vector<GroupId> found;
  for (std::size_t g = 0; g < problem.groups().size(); ++g) {
    const problem::Group& group = problem.groups()[g];
    if (group.loads == loads && group.warps == warps) found.emplace_back(g);
  }
  return found;
}

/// Gives consecutive sub-tiles to one group, if there are more sub-tiles than groups.
GroupId by_rows(const std::vector<GroupId>& compute, const SubTiles& tiles, OpId op) {
  const int part = std::max(tiles.part[op.index()], 0);
  const int used = std::min(tiles.count, static_cast<int>(compute.size()));
  return compute[static_cast<std::size_t>(part * used / tiles.count)];
}

/// Rank of the op's unit among units, in the order in which narrow ops first use them. Each unit
/// gets its own group while groups last.
std::size_t rank_of_unit(const Problem& problem, OpId op) {
  std::vector<std::optional<problem::UnitId>> units;
  for (const problem::Op& it : problem.ops()) {
    if (it.warps != problem[op].warps || it.variable_latency) continue;
    const auto unit = it.alternatives[0].unit;
    if (std::find(units.begin(), units.end(), unit) == units.end()) units.push_back(unit);
  }
  const auto at = std::find(units.begin(), units.end(), problem[op].alternatives[0].unit);
  return static_cast<std::size_t>(at - units.begin());
}

tl::unexpected<Diagnostic> no_group(const Problem& problem, OpId op, const std::string& kind) {
  return fail({}, "there is no " + kind + " of " + std::to_string(problem[op].warps) +
                      " warps for '" + problem[op].name + "'");
}

}  // namespace

std::vector<GroupId> compute_groups(const Problem& problem) {
  return groups_where(problem, false, problem::compute_width(problem.parts()));
}

Result<std::vector<GroupId>> specialized(const Problem& problem, const SubTiles& tiles) {
  const std::vector<GroupId> compute = compute_groups(problem);
  if (compute.empty()) return fail({}, "there is no group to compute");
  const bool any_width = !problem.in_force(problem::Rule::width);
  bool loads = false;
  std::vector<GroupId> groups;
  for (std::size_t v = 0; v < problem.ops().size(); ++v) {
    const problem::Op& op = problem.ops()[v];
    if (op.variable_latency) {
      const auto for_loads = groups_where(problem, true, op.warps);
      if (for_loads.empty()) return no_group(problem, OpId(v), "load group");
      groups.push_back(for_loads.front());
      loads = true;
      continue;
    }
    if (op.warps == problem::compute_width(problem.parts()) || any_width) {
      groups.push_back(by_rows(compute, tiles, OpId(v)));
      continue;
    }
    const auto narrow = groups_where(problem, false, op.warps);
    if (narrow.empty()) return no_group(problem, OpId(v), "group");
    groups.push_back(narrow[std::min(rank_of_unit(problem, OpId(v)), narrow.size() - 1)]);
  }
  if (!loads) return fail({}, "the loop loads nothing that a group of its own could do");
  return groups;
}

std::vector<GroupId> unspecialized(const Problem& problem, const SubTiles& tiles) {
  const std::vector<GroupId> compute = compute_groups(problem);
  std::vector<GroupId> groups;
  for (std::size_t v = 0; v < problem.ops().size(); ++v) {
    groups.push_back(by_rows(compute, tiles, OpId(v)));
  }
  return groups;
}

}  // namespace twill::strategy
