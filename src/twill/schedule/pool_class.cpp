#include "twill/schedule/pool_class.h"

#include <cstddef>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "twill/problem/problem.h"

namespace twill::schedule {
namespace {

using problem::Problem;
using problem::Rule;

/// Class of an op or group: whether it is for loads, and its width. If a rule is not in force, its
/// part is equal for all.
using Key = std::pair<bool, int>;

Key key_of(const Problem& problem, bool loads, int warps) {
  return {problem.in_force(Rule::load_group) && loads, problem.in_force(Rule::width) ? warps : 0};
}

std::string description_of(const Problem& problem, Key key) {
  std::string text = "all groups";
  if (problem.in_force(Rule::load_group)) text = key.first ? "load groups" : "compute groups";
  if (key.second > 0) text += fmt::format(" of {} warp{}", key.second, key.second == 1 ? "" : "s");
  return text;
}

}  // namespace

std::vector<PoolClass> pool_classes(const Problem& problem) {
  std::map<Key, PoolClass> classes;
  for (std::size_t i = 0; i < problem.ops().size(); ++i) {
    const problem::Op& op = problem.ops()[i];
    classes[key_of(problem, op.variable_latency, op.warps)].ops.emplace_back(i);
  }
  for (std::size_t i = 0; i < problem.groups().size(); ++i) {
    const problem::Group& group = problem.groups()[i];
    classes[key_of(problem, group.loads, group.warps)].groups.emplace_back(i);
  }
  std::vector<PoolClass> out;
  for (auto& [key, it] : classes) {
    it.description = description_of(problem, key);
    out.push_back(std::move(it));
  }
  return out;
}

}  // namespace twill::schedule
