#include "twill/strategy/sub_tiles.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

namespace twill::strategy {
namespace {

/// Smallest op of each op's component, over dependences between ops other than loads.
std::vector<std::size_t> components(const problem::Problem& problem) {
  std::vector<std::size_t> parent(problem.ops().size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](std::size_t v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  for (const problem::Dependence& it : problem.dependences()) {
    if (problem[it.from].variable_latency || problem[it.to].variable_latency) continue;
    const std::size_t a = root(it.from.index());
    const std::size_t b = root(it.to.index());
    parent[std::max(a, b)] = std::min(a, b);
  }
  for (std::size_t v = 0; v < parent.size(); ++v) parent[v] = root(v);
  return parent;
}

SubTiles independent_parts(const problem::Problem& problem) {
  const std::vector<std::size_t> component = components(problem);
  std::map<std::size_t, int> number;  // number of each component with asynchronous work
  for (std::size_t v = 0; v < component.size(); ++v) {
    const problem::Op& op = problem.ops()[v];
    if (op.asynchronous && !op.variable_latency) number.emplace(component[v], 0);
  }
  int next = 0;
  for (auto& [first, part] : number) part = next++;
  SubTiles tiles{std::vector<int>(component.size(), -1), std::max(next, 1)};
  for (std::size_t v = 0; v < component.size(); ++v) {
    const auto found = number.find(component[v]);
    if (found != number.end()) tiles.part[v] = found->second;
  }
  return tiles;
}

bool alike(problem::Op a, problem::Op b) {
  a.name = b.name = "";
  a.source = b.source = {};
  return a == b;
}

}  // namespace

SubTiles sub_tiles_of(const problem::Problem& problem, std::span<const int> known) {
  int most = -1;
  for (const int part : known) most = std::max(most, part);
  if (most < 0) return independent_parts(problem);
  return {{known.begin(), known.end()}, most + 1};
}

Result<std::vector<OpId>> counterparts(const problem::Problem& problem, const SubTiles& tiles) {
  std::vector<std::vector<OpId>> parts(static_cast<std::size_t>(tiles.count));
  std::vector<OpId> out;
  for (std::size_t v = 0; v < tiles.part.size(); ++v) {
    out.emplace_back(v);
    if (tiles.part[v] >= 0) parts[static_cast<std::size_t>(tiles.part[v])].emplace_back(v);
  }
  for (const std::vector<OpId>& part : parts) {
    if (part.size() != parts[0].size()) {
      return fail({}, "the sub-tiles do not do the same work: one has " +
                          std::to_string(parts[0].size()) + " operations, another " +
                          std::to_string(part.size()));
    }
    for (std::size_t k = 0; k < part.size(); ++k) {
      if (!alike(problem[parts[0][k]], problem[part[k]])) {
        return fail({}, "the sub-tiles do not do the same work: '" + problem[part[k]].name +
                            "' is not like '" + problem[parts[0][k]].name + "'");
      }
      out[part[k].index()] = parts[0][k];
    }
  }
  return out;
}

}  // namespace twill::strategy
