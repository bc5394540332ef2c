#include "twill/schedule/recurrence.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "twill/problem/transfer.h"

namespace twill::schedule {
namespace {

using problem::Dependence;
using problem::DependenceId;
using problem::Problem;

struct Edge {
  std::size_t from;
  std::size_t to;
  Cycles delay;
  Cycles distance;
  DependenceId dependence;
};

Cycles smallest_delay(const Problem& problem, const Dependence& it) {
  const problem::Op& from = problem[it.from];
  Cycles smallest = std::numeric_limits<Cycles>::max();
  for (const problem::Alternative& alternative : from.alternatives) {
    smallest = std::min(smallest, delay_of(it, from, alternative));
  }
  return smallest;
}

/// Ranks the ops so that dependences of distance 0 lead from lower to higher rank. `pose` has
/// checked that these dependences form no circuit.
std::vector<std::size_t> ranks_of(const Problem& problem) {
  const std::size_t op_count = problem.ops().size();
  std::vector<std::vector<std::size_t>> successors(op_count);
  std::vector<std::size_t> left(op_count, 0);
  for (const Dependence& it : problem.dependences()) {
    if (it.distance != 0) continue;
    successors[it.from.index()].push_back(it.to.index());
    ++left[it.to.index()];
  }
  std::vector<std::size_t> order;
  for (std::size_t op = 0; op < op_count; ++op) {
    if (left[op] == 0) order.push_back(op);
  }
  std::vector<std::size_t> rank(op_count, 0);
  for (std::size_t next = 0; next < order.size(); ++next) {
    rank[order[next]] = next;
    for (const std::size_t to : successors[order[next]]) {
      if (--left[to] == 0) order.push_back(to);
    }
  }
  return rank;
}

/// All dependences except those of transfer ops, which may not exist. Their order lets one pass
/// carry a start time along all dependences of distance 0.
std::vector<Edge> edges_of(const Problem& problem) {
  const std::vector<std::size_t> rank = ranks_of(problem);
  const auto transfer_ops = problem::transfer_ops_of(problem);
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < problem.dependences().size(); ++i) {
    const Dependence& it = problem.dependences()[i];
    if (transfer_ops[it.from.index()] || transfer_ops[it.to.index()]) continue;
    edges.push_back({it.from.index(), it.to.index(), smallest_delay(problem, it), it.distance,
                     DependenceId(i)});
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [&](const Edge& a, const Edge& b) { return rank[a.from] < rank[b.from]; });
  return edges;
}

/// Search for a circuit with a larger ratio than the best circuit so far.
class CircuitSearch {
 public:
  CircuitSearch(std::vector<Edge> edges, std::size_t op_count)
      : edges_(std::move(edges)), starts_(op_count, 0), into_(op_count, nullptr) {}

  std::optional<Recurrence> run() {
    while (relax()) {
      if (!take_better_circuit()) continue;
      std::fill(into_.begin(), into_.end(), nullptr);
    }
    return std::move(best_);
  }

 private:
  Cycles interval() const { return best_ ? best_->interval() : 0; }

  /// Runs one pass of Bellman-Ford for longest paths at the present interval. Returns false if no
  /// start moved: every circuit fits the interval.
  bool relax() {
    bool moved = false;
    for (const Edge& edge : edges_) {
      const Cycles start = starts_[edge.from] + edge.delay - edge.distance * interval();
      if (start <= starts_[edge.to]) continue;
      starts_[edge.to] = start;
      into_[edge.to] = &edge;
      moved = true;
    }
    return moved;
  }

  /// Keeps the worst circuit among the dependences that moved the starts last; returns whether
  /// there was one. They form a circuit exactly if some circuit does not fit the interval.
  bool take_better_circuit() {
    bool found = false;
    std::vector<std::size_t> walk(into_.size(), 0);  // number of the walk that saw the op first; 0:
                                                     // none
    for (std::size_t first = 0; first < into_.size(); ++first) {
      std::size_t op = first;
      while (walk[op] == 0 && into_[op] != nullptr) {
        walk[op] = first + 1;
        op = into_[op]->from;
      }
      if (into_[op] == nullptr || walk[op] != first + 1) continue;
      Recurrence circuit = circuit_through(op);
      if (circuit.interval() <= interval()) continue;
      best_ = std::move(circuit);
      found = true;
    }
    return found;
  }

  Recurrence circuit_through(std::size_t op) const {
    Recurrence it;
    std::size_t at = op;
    do {
      const Edge& edge = *into_[at];
      it.circuit.push_back(edge.dependence);
      it.delay += edge.delay;
      it.distance += edge.distance;
      at = edge.from;
    } while (at != op);
    std::reverse(it.circuit.begin(), it.circuit.end());
    return it;
  }

  std::vector<Edge> edges_;
  std::vector<Cycles> starts_;     ///< lower bounds on issue cycles; they only grow
  std::vector<const Edge*> into_;  ///< the dependence that moved an op last
  std::optional<Recurrence> best_;
};

/// Walks depth first, without recursion. Calls `done` with each op once all ops that it leads to
/// are done.
template <class Done>
void walk(const std::vector<std::vector<std::size_t>>& next, std::size_t first,
          std::vector<bool>& seen, Done done) {
  if (seen[first]) return;
  seen[first] = true;
  std::vector<std::pair<std::size_t, std::size_t>> path = {{first, 0}};
  while (!path.empty()) {
    auto& [op, at] = path.back();
    if (at == next[op].size()) {
      done(op);
      path.pop_back();
      continue;
    }
    const std::size_t to = next[op][at++];
    if (seen[to]) continue;
    seen[to] = true;
    path.emplace_back(to, 0);
  }
}

/// Lowest op of each op's strong component, by op: depth first forwards, then backwards from the
/// last finished op (Kosaraju; Sharir 1981).
std::vector<std::size_t> components_of(const Problem& problem) {
  const std::size_t op_count = problem.ops().size();
  std::vector<std::vector<std::size_t>> forth(op_count);
  std::vector<std::vector<std::size_t>> back(op_count);
  for (const Dependence& it : problem.dependences()) {
    forth[it.from.index()].push_back(it.to.index());
    back[it.to.index()].push_back(it.from.index());
  }
  std::vector<std::size_t> finished;
  std::vector<bool> seen(op_count, false);
  for (std::size_t op = 0; op < op_count; ++op) {
    walk(forth, op, seen, [&](std::size_t at) { finished.push_back(at); });
  }
  std::vector<std::size_t> component(op_count, 0);
  seen.assign(op_count, false);
  for (std::size_t i = op_count; i-- > 0;) {
    std::vector<std::size_t> members;
    walk(back, finished[i], seen, [&](std::size_t at) { members.push_back(at); });
    if (members.empty()) continue;
    const std::size_t lowest = *std::min_element(members.begin(), members.end());
    for (const std::size_t op : members) component[op] = lowest;
  }
  return component;
}

}  // namespace

std::optional<Recurrence> critical_recurrence(const Problem& problem) {
  return CircuitSearch(edges_of(problem), problem.ops().size()).run();
}

std::vector<Recurrence> critical_recurrences(const Problem& problem) {
  const std::size_t op_count = problem.ops().size();
  const std::vector<std::size_t> component = components_of(problem);
  std::vector<std::vector<Edge>> edges(op_count);  // by the lowest op of the component
  for (Edge& edge : edges_of(problem)) {
    if (component[edge.from] != component[edge.to]) continue;
    edges[component[edge.from]].push_back(edge);
  }
  // Numbers the ops within each component, so that each search looks at its own ops only.
  std::vector<std::size_t> number(op_count, 0);
  std::vector<std::size_t> size(op_count, 0);
  for (std::size_t op = 0; op < op_count; ++op) number[op] = size[component[op]]++;
  std::vector<Recurrence> found;
  for (std::size_t name = 0; name < op_count; ++name) {
    for (Edge& edge : edges[name]) {
      edge.from = number[edge.from];
      edge.to = number[edge.to];
    }
    auto worst = CircuitSearch(std::move(edges[name]), size[name]).run();
    if (worst) found.push_back(*std::move(worst));
  }
  std::stable_sort(found.begin(), found.end(), [](const Recurrence& a, const Recurrence& b) {
    return a.interval() > b.interval();
  });
  return found;
}

}  // namespace twill::schedule
