#include "twill/solve/difference.h"

#include <algorithm>

#include "twill/support/check.h"

namespace twill::solve {
namespace {

constexpr std::uint32_t index_of(Node node) { return static_cast<std::uint32_t>(node.index()); }

}  // namespace

Node DifferenceGraph::add_node() {
  potential_.push_back(0);
  out_.emplace_back();
  in_.emplace_back();
  neighbours_.emplace_back();
  parent_.push_back(kNone);
  for (Reach* reach : {&forward_, &backward_}) {
    reach->distance.push_back(0);
    reach->seen.push_back(0);
    reach->settled.push_back(0);
    reach->relevant.push_back(0);
  }
  return Node(potential_.size() - 1);
}

std::uint32_t DifferenceGraph::pair_of(std::uint32_t x, std::uint32_t y) {
  const auto before = [](const Neighbour& a, std::uint32_t node) { return a.node < node; };
  auto& near_x = neighbours_[x];
  const auto at_x = std::lower_bound(near_x.begin(), near_x.end(), y, before);
  if (at_x != near_x.end() && at_x->node == y) return at_x->pair;
  const auto pair = static_cast<std::uint32_t>(pairs_.size());
  pairs_.push_back({x, y, {}});
  near_x.insert(at_x, {y, pair});
  auto& near_y = neighbours_[y];
  near_y.insert(std::lower_bound(near_y.begin(), near_y.end(), x, before), {x, pair});
  return pair;
}

std::pair<Literal, bool> DifferenceGraph::add_atom(const Difference& difference, Literal fresh) {
  if (difference.x == difference.y) return {difference.bound <= 0 ? kTrue : kFalse, false};
  if (difference.y < difference.x) {
    const auto [literal, taken] =
        add_atom({difference.y, difference.x, 1 - difference.bound}, fresh);
    return {~literal, taken};
  }
  Pair& pair = pairs_[pair_of(index_of(difference.x), index_of(difference.y))];
  const auto at = std::lower_bound(
      pair.atoms.begin(), pair.atoms.end(), difference.bound,
      [](const AtomOfPair& atom, std::int64_t bound) { return atom.bound < bound; });
  if (at != pair.atoms.end() && at->bound == difference.bound) {
    return {Literal(at->variable, false), false};
  }
  TWILL_CHECK(!fresh.negative(), "an atom is the positive literal of its variable");
  pair.atoms.insert(at, {difference.bound, fresh.variable()});
  if (atoms_.size() <= fresh.variable()) atoms_.resize(fresh.variable() + std::size_t{1});
  atoms_[fresh.variable()] = {pair.x, pair.y, difference.bound};
  ++atom_count_;
  return {fresh, true};
}

bool DifferenceGraph::is_atom(Literal literal) const {
  return literal.variable() < atoms_.size() && atoms_[literal.variable()].x != kNone;
}

Difference DifferenceGraph::difference_of(Literal literal) const {
  const Atom& atom = atoms_[literal.variable()];
  if (literal.negative()) return {Node(atom.y), Node(atom.x), 1 - atom.bound};
  return {Node(atom.x), Node(atom.y), atom.bound};
}

bool DifferenceGraph::holds_in_potential(Literal literal) const {
  const Atom& atom = atoms_[literal.variable()];
  return (potential_[atom.x] - potential_[atom.y] >= atom.bound) != literal.negative();
}

bool DifferenceGraph::assert_edge(const Difference& difference, Literal cause) {
  implied_.clear();
  const std::uint32_t from = index_of(difference.y);
  const std::uint32_t to = index_of(difference.x);
  const auto edge = static_cast<std::uint32_t>(edges_.size());
  edges_.push_back({from, to, difference.bound, cause});
  if (!repair(edge)) {
    edges_.pop_back();
    return false;
  }
  add_arcs(edge);
  propagate(edge);
  return true;
}

void DifferenceGraph::add_arcs(std::uint32_t edge) {
  const Edge& added = edges_[edge];
  out_[added.from].push_back({added.to, edge, added.weight});
  in_[added.to].push_back({added.from, edge, added.weight});
}

void DifferenceGraph::backtrack(std::size_t edge_count) {
  while (edges_.size() > edge_count) {
    out_[edges_.back().from].pop_back();
    in_[edges_.back().to].pop_back();
    edges_.pop_back();
  }
}

void DifferenceGraph::push(const QueueEntry& entry) {
  queue_.push_back(entry);
  std::push_heap(queue_.begin(), queue_.end(), [](const QueueEntry& a, const QueueEntry& b) {
    if (a.key != b.key) return a.key > b.key;
    if (a.relevant != b.relevant) return a.relevant;
    return a.node > b.node;
  });
}

DifferenceGraph::QueueEntry DifferenceGraph::pop() {
  std::pop_heap(queue_.begin(), queue_.end(), [](const QueueEntry& a, const QueueEntry& b) {
    if (a.key != b.key) return a.key > b.key;
    if (a.relevant != b.relevant) return a.relevant;
    return a.node > b.node;
  });
  const QueueEntry entry = queue_.back();
  queue_.pop_back();
  return entry;
}

/// Raises potentials until the new edge holds, largest rise first, so that every node rises once.
/// If the start of the edge would have to rise too, the edge closes a circuit of positive weight.
bool DifferenceGraph::repair(std::uint32_t new_edge) {
  const Edge added = edges_[new_edge];
  const std::int64_t missing = potential_[added.from] + added.weight - potential_[added.to];
  if (missing <= 0) return true;
  Reach& rise = forward_;  // `distance` holds how much a node has to rise
  ++rise.run;
  restored_.clear();
  queue_.clear();
  const auto raise = [&](std::uint32_t node, std::int64_t by, std::uint32_t edge) {
    rise.seen[node] = rise.run;
    rise.distance[node] = by;
    parent_[node] = edge;
    push({-by, node, false});
  };
  raise(added.to, missing, new_edge);
  while (!queue_.empty()) {
    const QueueEntry top = pop();
    if (rise.settled[top.node] == rise.run || -top.key != rise.distance[top.node]) continue;
    rise.settled[top.node] = rise.run;
    restored_.emplace_back(top.node, potential_[top.node]);
    potential_[top.node] += rise.distance[top.node];
    for (const Arc& arc : out_[top.node]) {
      ++work_;
      if (rise.settled[arc.node] == rise.run) continue;
      const std::int64_t by = potential_[top.node] + arc.weight - potential_[arc.node];
      const bool more = rise.seen[arc.node] != rise.run || by > rise.distance[arc.node];
      if (by <= 0 || !more) continue;
      raise(arc.node, by, arc.edge);
      if (arc.node != added.from) continue;
      build_conflict(new_edge);
      for (const auto& [node, before] : restored_) potential_[node] = before;
      return false;
    }
  }
  return true;
}

void DifferenceGraph::build_conflict(std::uint32_t new_edge) {
  conflict_.clear();
  std::uint32_t node = edges_[new_edge].from;
  for (std::uint32_t edge = kNone; edge != new_edge;) {
    edge = parent_[node];
    if (edges_[edge].cause != kTrue) conflict_.push_back(edges_[edge].cause);
    node = edges_[edge].from;
  }
}

/// Makes a node final and relaxes its arcs; returns how many relevant entries that queued.
std::size_t DifferenceGraph::settle(Reach& reach, bool forward, std::uint32_t node, bool relevant,
                                    std::uint32_t new_edge) {
  reach.settled[node] = reach.run;
  if (relevant) reach.nodes.push_back(node);
  const std::int64_t here = reach.distance[node];
  const std::vector<Arc>& arcs = forward ? out_[node] : in_[node];
  work_ += arcs.size();
  std::size_t queued = 0;
  for (const Arc& arc : arcs) {
    if (reach.settled[arc.node] == reach.run) continue;
    const std::int64_t rise = potential_[arc.node] - potential_[node];
    const std::int64_t slack = (forward ? rise : -rise) - arc.weight;
    const std::int64_t distance = here + slack;
    const bool now_relevant = relevant || arc.edge == new_edge;
    if (reach.seen[arc.node] == reach.run) {
      const std::int64_t known = reach.distance[arc.node];
      const bool was_relevant = reach.relevant[arc.node] != 0;
      if (distance > known || (distance == known && (now_relevant || !was_relevant))) continue;
    }
    reach.seen[arc.node] = reach.run;
    reach.distance[arc.node] = distance;
    reach.relevant[arc.node] = now_relevant ? 1 : 0;
    push({distance, arc.node, now_relevant});
    if (now_relevant) ++queued;
  }
  return queued;
}

/// Finds the nodes whose longest path from (or, backward, to) `start` runs through the new edge
/// and through nothing as good: only their distances have changed.
void DifferenceGraph::reach(Reach& reach, bool forward, std::uint32_t start,
                            std::uint32_t new_edge) {
  ++reach.run;
  reach.nodes.clear();
  queue_.clear();
  reach.seen[start] = reach.run;
  reach.distance[start] = 0;
  reach.relevant[start] = 0;
  std::size_t open = settle(reach, forward, start, false, new_edge);
  while (open > 0 && !queue_.empty()) {
    const QueueEntry top = pop();
    if (top.relevant) --open;
    const bool stale = top.key != reach.distance[top.node] ||
                       top.relevant != (reach.relevant[top.node] != 0) ||
                       reach.settled[top.node] == reach.run;
    if (!stale) open += settle(reach, forward, top.node, top.relevant, new_edge);
  }
}

void DifferenceGraph::propagate(std::uint32_t new_edge) {
  const Edge added = edges_[new_edge];
  reach(forward_, true, added.from, new_edge);
  if (forward_.nodes.empty()) return;
  reach(backward_, false, added.to, new_edge);
  const auto incidence = [&](const Reach& side) {
    std::size_t sum = 0;
    for (const std::uint32_t node : side.nodes) sum += neighbours_[node].size();
    return sum;
  };
  const std::int64_t slack = potential_[added.to] - potential_[added.from] - added.weight;
  const bool scan_forward = incidence(forward_) <= incidence(backward_);
  const Reach& scanned = scan_forward ? forward_ : backward_;
  const Reach& other = scan_forward ? backward_ : forward_;
  for (const std::uint32_t node : scanned.nodes) {
    work_ += neighbours_[node].size();
    for (const Neighbour& neighbour : neighbours_[node]) {
      const std::uint32_t far = neighbour.node;
      if (other.settled[far] != other.run || other.relevant[far] == 0) continue;
      const std::uint32_t higher = scan_forward ? node : far;
      const std::uint32_t lower = scan_forward ? far : node;
      const std::int64_t total = scanned.distance[node] + other.distance[far] - slack;
      decide(pairs_[neighbour.pair], higher, potential_[higher] - potential_[lower] - total);
    }
  }
}

/// The node `higher` of the pair is at least `bound` above the other one. Atoms of a pair imply
/// each other downwards, so the walk ends at the first that is known already.
void DifferenceGraph::decide(const Pair& pair, std::uint32_t higher, std::int64_t bound) {
  const auto before = [](std::int64_t value, const AtomOfPair& atom) { return value < atom.bound; };
  if (higher == pair.x) {  // x - y >= bound: all atoms up to it are true
    auto at = std::upper_bound(pair.atoms.begin(), pair.atoms.end(), bound, before);
    while (at != pair.atoms.begin()) {
      --at;
      ++work_;
      const Literal literal(at->variable, false);
      if (values_[literal.code()] > 0) return;
      implied_.push_back(literal);
    }
    return;
  }
  // x - y <= -bound: all atoms above it are false
  for (auto at = std::upper_bound(pair.atoms.begin(), pair.atoms.end(), -bound, before);
       at != pair.atoms.end(); ++at) {
    ++work_;
    const Literal literal(at->variable, true);
    if (values_[literal.code()] > 0) return;
    implied_.push_back(literal);
  }
}

void DifferenceGraph::decide_all_atoms() {
  implied_.clear();
  for (std::uint32_t start = 0; start < potential_.size(); ++start) {
    if (neighbours_[start].empty()) continue;
    ++forward_.run;
    forward_.nodes.clear();
    queue_.clear();
    forward_.seen[start] = forward_.run;
    forward_.distance[start] = 0;
    forward_.relevant[start] = 1;
    settle(forward_, true, start, true, kNone);
    while (!queue_.empty()) {
      const QueueEntry top = pop();
      if (forward_.settled[top.node] == forward_.run) continue;
      settle(forward_, true, top.node, true, kNone);
    }
    for (const Neighbour& neighbour : neighbours_[start]) {
      const std::uint32_t far = neighbour.node;
      if (forward_.settled[far] != forward_.run) continue;
      decide(pairs_[neighbour.pair], far,
             potential_[far] - potential_[start] - forward_.distance[far]);
    }
  }
}

void DifferenceGraph::explain(Literal literal, std::size_t edge_limit,
                              std::vector<Literal>& causes) {
  const Difference wanted = difference_of(literal);
  const std::uint32_t start = index_of(wanted.y);
  const std::uint32_t goal = index_of(wanted.x);
  Reach& reach = forward_;
  ++reach.run;
  queue_.clear();
  const auto visit = [&](std::uint32_t node, std::int64_t distance, std::uint32_t edge) {
    if (reach.seen[node] == reach.run && distance >= reach.distance[node]) return;
    reach.seen[node] = reach.run;
    reach.distance[node] = distance;
    parent_[node] = edge;
    push({distance, node, false});
  };
  visit(start, 0, kNone);
  while (!queue_.empty()) {
    const QueueEntry top = pop();
    if (top.node == goal) break;
    if (reach.settled[top.node] == reach.run) continue;
    reach.settled[top.node] = reach.run;
    work_ += out_[top.node].size();
    for (const Arc& arc : out_[top.node]) {
      if (arc.edge >= edge_limit) break;  // arcs are in order of assertion
      const std::int64_t slack = potential_[arc.node] - potential_[top.node] - arc.weight;
      visit(arc.node, top.key + slack, arc.edge);
    }
  }
  const std::int64_t allowed = potential_[goal] - potential_[start] - wanted.bound;
  TWILL_CHECK(reach.seen[goal] == reach.run && reach.distance[goal] <= allowed,
              "a difference literal must follow from the edges that implied it");
  for (std::uint32_t node = goal; node != start;) {
    const Edge& edge = edges_[parent_[node]];
    if (edge.cause != kTrue) causes.push_back(edge.cause);
    node = edge.from;
  }
}

std::size_t DifferenceGraph::memory() const {
  return potential_.size() * 128 + edges_.capacity() * (sizeof(Edge) + 2 * sizeof(Arc)) +
         atoms_.capacity() * sizeof(Atom) + atom_count_ * sizeof(AtomOfPair) * 2 +
         pairs_.capacity() * (sizeof(Pair) + 4 * sizeof(Neighbour));
}

}  // namespace twill::solve
