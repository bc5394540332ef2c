#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "twill/solve/literal.h"

namespace twill::solve {

/// Integer difference logic: a set of constraints x - y >= c that grows and shrinks like a stack,
/// and atoms whose truth some of those sets decide.
///
/// The constraints are edges y -> x of weight c. They have a solution iff no circuit has a positive
/// weight. A solution (the *potential*) is kept at all times, so a new edge costs only the nodes
/// whose value must rise, and longest paths can be found with Dijkstra on the slack
/// potential(x) - potential(y) - c >= 0 (Cotton and Maler, SAT 2006). Propagation is exhaustive:
/// after `assert_edge`, every atom that the edges decide has been reported. Cost per edge: the
/// part of the graph whose longest paths run through it, and the atoms between those nodes.
class DifferenceGraph {
 public:
  /// `values` is the assignment of the engine by literal code (1 true, -1 false, 0 open); atoms
  /// that already have their value are not reported again. It must outlive the graph.
  explicit DifferenceGraph(const std::vector<std::int8_t>& values) : values_(values) {}

  Node add_node();
  std::size_t node_count() const { return potential_.size(); }

  /// The literal of a positive variable that is true iff the difference holds, or an existing one
  /// (perhaps negated); {literal, true} if `fresh` was taken.
  std::pair<Literal, bool> add_atom(const Difference& difference, Literal fresh);

  /// What a literal of an atom says: the difference itself, or its integer negation.
  bool is_atom(Literal literal) const;
  Difference difference_of(Literal literal) const;

  /// Adds the difference of `cause` (kTrue: one that always holds). False if there is no solution
  /// any more; then `conflict` holds causes that cannot hold together (without kTrue), and the
  /// edge is not added. Otherwise `implied` holds the literals decided by it.
  bool assert_edge(const Difference& difference, Literal cause);
  const std::vector<Literal>& conflict() const { return conflict_; }
  const std::vector<Literal>& implied() const { return implied_; }

  /// Fills `implied` with all literals decided by the edges, also for atoms added after them.
  void decide_all_atoms();

  /// Appends to `causes` causes among the first `edge_limit` edges that together imply `literal`.
  void explain(Literal literal, std::size_t edge_limit, std::vector<Literal>& causes);

  std::size_t edge_count() const { return edges_.size(); }
  /// Drops all but the first `edge_count` edges.
  void backtrack(std::size_t edge_count);

  /// The current solution; it satisfies all edges.
  std::int64_t potential(Node node) const { return potential_[node.index()]; }
  /// Whether the current solution makes the literal of an atom true.
  bool holds_in_potential(Literal literal) const;

  std::uint64_t work() const { return work_; }  ///< edges and atoms touched so far
  std::size_t memory() const;                   ///< bytes, estimated

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  struct Edge {
    std::uint32_t from;
    std::uint32_t to;
    std::int64_t weight;
    Literal cause;
  };
  /// An edge as seen from one of its ends.
  struct Arc {
    std::uint32_t node;  ///< the other end
    std::uint32_t edge;
    std::int64_t weight;
  };
  struct AtomOfPair {
    std::int64_t bound;
    std::uint32_t variable;
  };
  /// All atoms between two nodes, x - y >= bound with x < y, by ascending bound.
  struct Pair {
    std::uint32_t x;
    std::uint32_t y;
    std::vector<AtomOfPair> atoms;
  };
  struct Neighbour {
    std::uint32_t node;
    std::uint32_t pair;
  };
  struct Atom {
    std::uint32_t x = kNone;
    std::uint32_t y = kNone;
    std::int64_t bound = 0;
  };
  struct QueueEntry {
    std::int64_t key;
    std::uint32_t node;
    bool relevant;
  };
  /// The nodes one Dijkstra run reached, with their slack distances; reused between runs.
  struct Reach {
    std::vector<std::int64_t> distance;
    std::vector<std::uint32_t> seen;     ///< run that wrote `distance`
    std::vector<std::uint32_t> settled;  ///< run in which the node is final and relevant
    std::vector<std::uint8_t> relevant;
    std::vector<std::uint32_t> nodes;    ///< final and relevant nodes, in order of distance
    std::uint32_t run = 0;
  };

  std::uint32_t pair_of(std::uint32_t x, std::uint32_t y);
  bool repair(std::uint32_t new_edge);
  void build_conflict(std::uint32_t new_edge);
  void propagate(std::uint32_t new_edge);
  void reach(Reach& reach, bool forward, std::uint32_t start, std::uint32_t new_edge);
  std::size_t settle(Reach& reach, bool forward, std::uint32_t node, bool relevant,
                     std::uint32_t new_edge);
  void decide(const Pair& pair, std::uint32_t higher, std::int64_t bound);
  void push(const QueueEntry& entry);
  QueueEntry pop();
  void add_arcs(std::uint32_t edge);

  const std::vector<std::int8_t>& values_;
  std::vector<std::int64_t> potential_;
  std::vector<Edge> edges_;
  std::vector<std::vector<Arc>> out_;
  std::vector<std::vector<Arc>> in_;
  std::vector<Atom> atoms_;  ///< by variable; x is kNone if the variable is no atom
  std::vector<Pair> pairs_;
  std::vector<std::vector<Neighbour>> neighbours_;  ///< by node, ascending by the other node
  std::size_t atom_count_ = 0;

  Reach forward_;
  Reach backward_;
  std::vector<QueueEntry> queue_;
  std::vector<std::uint32_t> parent_;                             ///< edge by which a node rose
  std::vector<std::pair<std::uint32_t, std::int64_t>> restored_;  ///< node, potential before
  std::vector<Literal> conflict_;
  std::vector<Literal> implied_;
  std::uint64_t work_ = 0;
};

}  // namespace twill::solve
