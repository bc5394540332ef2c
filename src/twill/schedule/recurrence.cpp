#include "twill/schedule/recurrence.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

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
  for (const problem::Way& way : from.ways) {
    smallest = std::min(smallest, delay_of(it, from, way));
  }
  return smallest;
}

/// Ranks the ops so that dependences of distance 0 lead from lower to higher rank. (pose saw to it
/// that they form no circuit.)
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

/// The search for a circuit with a larger ratio than the best one so far.
class CircuitSearch {
 public:
  explicit CircuitSearch(const Problem& problem)
      : starts_(problem.ops().size(), 0), into_(problem.ops().size(), nullptr) {
    const std::vector<std::size_t> rank = ranks_of(problem);
    for (std::size_t i = 0; i < problem.dependences().size(); ++i) {
      const Dependence& it = problem.dependences()[i];
      edges_.push_back({it.from.index(), it.to.index(), smallest_delay(problem, it), it.distance,
                        DependenceId(i)});
    }
    // In this order one pass carries a start time along all dependences of distance 0.
    std::stable_sort(edges_.begin(), edges_.end(),
                     [&](const Edge& a, const Edge& b) { return rank[a.from] < rank[b.from]; });
  }

  std::optional<Recurrence> run() {
    while (relax()) {
      if (!take_better_circuit()) continue;
      std::fill(into_.begin(), into_.end(), nullptr);
    }
    return std::move(best_);
  }

 private:
  Cycles interval() const { return best_ ? best_->interval() : 0; }

  /// One pass of Bellman-Ford for longest paths at the present interval. False: nothing moved, so
  /// every circuit fits into it.
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

  /// The dependences that moved the starts last form a circuit exactly if some circuit does not
  /// fit. Keeps the worst of those; true if there was one.
  bool take_better_circuit() {
    bool found = false;
    std::vector<std::size_t> walk(into_.size(), 0);  // which walk saw an op first; 0: none
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

}  // namespace

std::optional<Recurrence> critical_recurrence(const Problem& problem) {
  return CircuitSearch(problem).run();
}

}  // namespace twill::schedule
