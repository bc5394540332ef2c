#include "twill/solve/difference.h"

#include <algorithm>

#include "twill/support/check.h"

namespace twill::solve {
namespace {

constexpr std::uint32_t index_of(Node node) { return static_cast<std::uint32_t>(node.index()); }

/// The least of so few is found by a scan, which is cheaper than to keep a heap.
constexpr std::size_t kFewQueued = 16;

/// Room for the atoms of a pair at first: most pairs have no more.
constexpr std::size_t kUsualAtoms = 4;

}  // namespace

Node DifferenceGraph::add_node() {
  TWILL_CHECK(longest_.empty(), "nodes come before atoms and edges");
  const auto node = static_cast<std::uint32_t>(potential_.size());
  if (blocks_.empty() || node == block_begin_) blocks_.push_back({node, node});
  blocks_.back().end = node + 1;
  block_of_.push_back(static_cast<std::uint32_t>(blocks_.size() - 1));
  potential_.push_back(0);
  out_.emplace_back();
  label_.push_back(0);
  seen_.push_back(0);
  final_.push_back(0);
  parent_.push_back(kNone);
  return Node(potential_.size() - 1);
}

void DifferenceGraph::make_tables() {
  if (!longest_.empty()) return;
  std::size_t cells = 0;
  for (const Block& block : blocks_) {
    const std::size_t nodes = block.end - block.begin;
    for (std::uint32_t node = block.begin; node < block.end; ++node) {
      rows_.push_back(cells + (node - block.begin) * nodes - block.begin);  // wraps, and back
    }
    cells += nodes * nodes;
  }
  tails_.resize(potential_.size());
  heads_.resize(potential_.size());
  longest_.assign(cells, kUnreached);
  decisive_.assign(cells, kNever);
  pair_at_.assign(cells, kNone);
  for (std::uint32_t node = 0; node < rows_.size(); ++node) {
    longest_[cell(node, node)] = 0;
  }
}

DifferenceGraph::Pair& DifferenceGraph::pair_of(std::uint32_t x, std::uint32_t y) {
  make_tables();
  TWILL_CHECK(block_of_[x] == block_of_[y], "a difference is of nodes of one block");
  if (pair_at_[cell(x, y)] == kNone) {
    pair_at_[cell(x, y)] = pair_at_[cell(y, x)] = static_cast<std::uint32_t>(pairs_.size());
    pairs_.push_back({x, y, {}});
    pairs_.back().atoms.reserve(kUsualAtoms);
  }
  return pairs_[pair_at_[cell(x, y)]];
}

std::pair<Literal, bool> DifferenceGraph::add_atom(const Difference& difference, Literal fresh) {
  if (difference.x == difference.y) return {difference.bound <= 0 ? kTrue : kFalse, false};
  if (difference.y < difference.x) {
    const auto [literal, taken] =
        add_atom({difference.y, difference.x, 1 - difference.bound}, fresh);
    return {~literal, taken};
  }
  Pair& pair = pair_of(index_of(difference.x), index_of(difference.y));
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
  watch_for(cell(pair.y, pair.x), difference.bound);
  watch_for(cell(pair.x, pair.y), 1 - difference.bound);
  return {fresh, true};
}

/// Notes that a path of that length decides an atom. Paths that exist already are found by
/// decide_all_atoms.
void DifferenceGraph::watch_for(std::size_t cell, std::int64_t length) {
  if (length > longest_[cell]) decisive_[cell] = std::min(decisive_[cell], length);
}

std::optional<Literal> DifferenceGraph::implied_atom(const Difference& difference) const {
  const std::uint32_t x = index_of(difference.x);
  const std::uint32_t y = index_of(difference.y);
  if (pair_at_.empty() || block_of_[x] != block_of_[y]) return std::nullopt;
  if (pair_at_[cell(x, y)] == kNone) return std::nullopt;
  const Pair& pair = pairs_[pair_at_[cell(x, y)]];
  const bool forward = pair.x == x;  // else -(y - x) >= bound, which makes all atoms above false
  const auto above = std::upper_bound(
      pair.atoms.begin(), pair.atoms.end(), forward ? difference.bound : -difference.bound,
      [](std::int64_t bound, const AtomOfPair& atom) { return bound < atom.bound; });
  if (above == (forward ? pair.atoms.begin() : pair.atoms.end())) return std::nullopt;
  return Literal(forward ? (above - 1)->variable : above->variable, !forward);
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
  make_tables();
  implied_.clear();
  const std::uint32_t from = index_of(difference.y);
  const std::uint32_t to = index_of(difference.x);
  TWILL_CHECK(block_of_[from] == block_of_[to], "a difference is of nodes of one block");
  if (longest_[cell(from, to)] >= difference.bound) return true;
  const auto edge = static_cast<std::uint32_t>(edges_.size());
  edges_.push_back({from, to, difference.bound, cause, changes_.size()});
  if (!repair(edge)) {
    edges_.pop_back();
    return false;
  }
  out_[from].push_back({to, edge, difference.bound});
  lengthen(edge);
  return true;
}

void DifferenceGraph::backtrack(std::size_t edge_count) {
  if (edges_.size() <= edge_count) return;
  const std::size_t kept = edges_[edge_count].changes;
  while (changes_.size() > kept) {
    const Change& last = changes_.back();
    longest_[last.cell] = last.longest;
    decisive_[last.cell] = last.decisive;
    changes_.pop_back();
  }
  while (edges_.size() > edge_count) {
    out_[edges_.back().from].pop_back();
    edges_.pop_back();
  }
}

bool DifferenceGraph::is_after(const QueueEntry& a, const QueueEntry& b) {
  return a.key != b.key ? a.key > b.key : a.node > b.node;
}

void DifferenceGraph::clear_queue() {
  queue_.clear();
  is_heap_ = false;
}

void DifferenceGraph::push(std::int64_t key, std::uint32_t node) {
  queue_.push_back({key, node});
  if (is_heap_) {
    std::push_heap(queue_.begin(), queue_.end(), is_after);
  } else if (queue_.size() > kFewQueued) {
    std::make_heap(queue_.begin(), queue_.end(), is_after);
    is_heap_ = true;
  }
}

/// Takes the entry with the least key, of these the one with the least node.
DifferenceGraph::QueueEntry DifferenceGraph::pop() {
  if (is_heap_) {
    std::pop_heap(queue_.begin(), queue_.end(), is_after);
  } else {
    std::iter_swap(std::max_element(queue_.begin(), queue_.end(), is_after), queue_.end() - 1);
  }
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
  ++run_;
  restored_.clear();
  clear_queue();
  const auto raise = [this](std::uint32_t node, std::int64_t by, std::uint32_t edge) {
    seen_[node] = run_;
    label_[node] = by;
    parent_[node] = edge;
    push(-by, node);
  };
  raise(added.to, missing, new_edge);
  while (!queue_.empty()) {
    const QueueEntry top = pop();
    if (final_[top.node] == run_) continue;
    final_[top.node] = run_;
    restored_.emplace_back(top.node, potential_[top.node]);
    potential_[top.node] += label_[top.node];
    work_ += out_[top.node].size();
    for (const Arc& arc : out_[top.node]) {
      if (final_[arc.to] == run_) continue;
      const std::int64_t by = potential_[top.node] + arc.weight - potential_[arc.to];
      if (by <= 0 || (seen_[arc.to] == run_ && by <= label_[arc.to])) continue;
      raise(arc.to, by, arc.edge);
      if (arc.to != added.from) continue;
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

/// Updates the distances of all pairs whose longest path now runs through the new edge, and decides
/// the atoms between them.
void DifferenceGraph::lengthen(std::uint32_t new_edge) {
  const auto [tails, heads] = around(edges_[new_edge]);
  for (const Step& tail : tails) {
    const std::size_t row = cell(tail.node, 0);
    for (const Step& head : heads) {
      const std::size_t at = row + head.node;
      const std::int64_t longer = tail.distance + head.distance;
      if (longer <= longest_[at]) continue;
      ++work_;
      changes_.push_back({at, longest_[at], decisive_[at]});
      longest_[at] = longer;
      if (longer < decisive_[at]) continue;
      decisive_[at] = decide(pairs_[pair_at_[at]], head.node, longer);
    }
  }
}

/// Finds nodes whose path to the end of the edge gets longer by it, with the new lengths. Finds
/// also nodes whose path from its start gets longer, with their distance from its end. Has no
/// branches, which would be mispredicted.
std::pair<std::span<const DifferenceGraph::Step>, std::span<const DifferenceGraph::Step>>
DifferenceGraph::around(const Edge& edge) {
  const Block& block = blocks_[block_of_[edge.from]];
  const std::size_t from_start = cell(edge.from, 0);
  const std::size_t from_end = cell(edge.to, 0);
  std::size_t tails = 0;
  std::size_t heads = 0;
  for (std::uint32_t node = block.begin; node < block.end; ++node) {
    const std::size_t row = cell(node, 0);
    const std::int64_t to_start = longest_[row + edge.from];
    const std::int64_t through = to_start + edge.weight;
    const bool is_tail = (to_start != kUnreached) & (through > longest_[row + edge.to]);
    tails_[tails] = {node, through};
    tails += is_tail ? 1 : 0;
    const std::int64_t onwards = longest_[from_end + node];
    const bool is_head =
        (onwards != kUnreached) & (edge.weight + onwards > longest_[from_start + node]);
    heads_[heads] = {node, onwards};
    heads += is_head ? 1 : 0;
  }
  work_ += (block.end - block.begin + tails * heads) / 8;
  return {std::span(tails_).first(tails), std::span(heads_).first(heads)};
}

/// The node `higher` of the pair is at least `bound` above the other one. Atoms of a pair imply
/// each other downwards, so the walk ends at the first that is known already. Returns the next
/// bound that decides one.
std::int64_t DifferenceGraph::decide(const Pair& pair, std::uint32_t higher, std::int64_t bound) {
  const auto before = [](std::int64_t value, const AtomOfPair& atom) { return value < atom.bound; };
  const bool up = higher == pair.x;
  const auto first_above =
      std::upper_bound(pair.atoms.begin(), pair.atoms.end(), up ? bound : -bound, before);
  if (up) {  // x - y >= bound: all atoms up to it are true
    for (auto at = first_above; at != pair.atoms.begin();) {
      --at;
      ++work_;
      const Literal literal(at->variable, false);
      if (values_[literal.code()] > 0) break;
      implied_.push_back(literal);
    }
    return first_above == pair.atoms.end() ? kNever : first_above->bound;
  }
  // x - y <= -bound: all atoms above it are false
  for (auto at = first_above; at != pair.atoms.end(); ++at) {
    ++work_;
    const Literal literal(at->variable, true);
    if (values_[literal.code()] > 0) break;
    implied_.push_back(literal);
  }
  return first_above == pair.atoms.begin() ? kNever : 1 - (first_above - 1)->bound;
}

void DifferenceGraph::decide_all_atoms() {
  implied_.clear();
  for (const Pair& pair : pairs_) {
    const std::int64_t up = longest_[cell(pair.y, pair.x)];
    const std::int64_t down = longest_[cell(pair.x, pair.y)];
    if (up != kUnreached) decide(pair, pair.x, up);
    if (down != kUnreached) decide(pair, pair.y, down);
  }
}

void DifferenceGraph::explain(Literal literal, std::size_t edge_limit,
                              std::vector<Literal>& causes) {
  const Difference wanted = difference_of(literal);
  const std::uint32_t start = index_of(wanted.y);
  const std::uint32_t goal = index_of(wanted.x);
  // Slacks along a path add up to how much longer it could be, and none is negative. So a path that
  // implies the literal stays within `allowed`, and even the longest one on from a node must.
  const std::int64_t allowed = potential_[goal] - potential_[start] - wanted.bound;
  ++run_;
  clear_queue();
  const auto visit = [&](std::uint32_t node, std::int64_t slack, std::uint32_t edge) {
    if (seen_[node] == run_ && slack >= label_[node]) return;
    const std::int64_t onwards = longest_[cell(node, goal)];
    if (onwards == kUnreached) return;
    if (slack + potential_[goal] - potential_[node] - onwards > allowed) return;
    seen_[node] = run_;
    label_[node] = slack;
    parent_[node] = edge;
    push(slack, node);
  };
  visit(start, 0, kNone);
  while (!queue_.empty()) {
    const QueueEntry top = pop();
    if (top.node == goal) break;
    if (final_[top.node] == run_) continue;
    final_[top.node] = run_;
    work_ += out_[top.node].size();
    for (const Arc& arc : out_[top.node]) {
      if (arc.edge >= edge_limit) break;
      visit(arc.to, top.key + potential_[arc.to] - potential_[top.node] - arc.weight, arc.edge);
    }
  }
  TWILL_CHECK(seen_[goal] == run_ && label_[goal] <= allowed,
              "a difference literal must follow from the edges that implied it");
  for (std::uint32_t node = goal; node != start;) {
    const Edge& edge = edges_[parent_[node]];
    if (edge.cause != kTrue) causes.push_back(edge.cause);
    node = edge.from;
  }
}

std::size_t DifferenceGraph::memory_for(std::size_t node_count) {
  return node_count * node_count * kBytesOfCell;
}

std::size_t DifferenceGraph::memory() const {
  return longest_.size() * kBytesOfCell + changes_.capacity() * sizeof(Change) +
         edges_.capacity() * (sizeof(Edge) + 2 * sizeof(Arc)) + atoms_.capacity() * sizeof(Atom) +
         atom_count_ * sizeof(AtomOfPair) * 2 + pairs_.capacity() * sizeof(Pair);
}

}  // namespace twill::solve
