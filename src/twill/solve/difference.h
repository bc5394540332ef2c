#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "twill/solve/literal.h"

namespace twill::solve {

/// Integer difference logic: a set of constraints x - y >= c that grows and shrinks like a stack,
/// and atoms that the set may decide.
///
/// The constraints are edges y -> x of weight c. They have a solution iff no circuit has a positive
/// weight. Two things are kept up to date:
///
/// - a solution, the *potential*: a new edge costs only the nodes whose value must rise. Paths are
///   searched with Dijkstra on the slack potential(x) - potential(y) - c >= 0 (Cotton and Maler,
///   "Fast and Flexible Difference Constraint Propagation for DPLL(T)", SAT 2006). They explain
///   implied literals, on demand only;
/// - the longest distance between every two nodes. A new edge y -> x changes distances only from
///   nodes whose path to x got longer, to nodes whose path from y got longer. So a step costs two
///   scans and the product of these two sets, which is small. Every atom between such a pair is
///   visited: propagation is exhaustive, and an implied edge costs no update.
///
/// Nodes of different blocks are never compared, so they have no distance.
///
/// Memory: 20 bytes per pair of nodes of a block.
class DifferenceGraph {
 public:
  /// `values` is the assignment of the engine by literal code (1 true, -1 false, 0 open); atoms
  /// that already have their value are not reported again. It must outlive the graph.
  explicit DifferenceGraph(const std::vector<std::int8_t>& values) : values_(values) {}

  /// Nodes are added before atoms and edges.
  Node add_node();
  /// Has the nodes that follow be a block of their own. Precondition of all differences: both nodes
  /// are of one block.
  void begin_block() { block_begin_ = potential_.size(); }
  std::size_t node_count() const { return potential_.size(); }

  /// The literal of a positive variable that is true iff the difference holds, or an existing one
  /// (perhaps negated); {literal, true} if `fresh` was taken. Precondition: no edge that is there
  /// will be dropped.
  std::pair<Literal, bool> add_atom(const Difference& difference, Literal fresh);

  /// The strongest literal of an existing atom that is true if the difference holds.
  std::optional<Literal> implied_atom(const Difference& difference) const;

  /// Difference that a literal of an atom states: the atom's own, or its integer negation.
  bool is_atom(Literal literal) const;
  Difference difference_of(Literal literal) const;

  /// Adds the difference of `cause` (kTrue: one that always holds), unless the edges imply it.
  /// False if there is no solution any more; then `conflict` holds causes that cannot hold together
  /// (without kTrue), and the edge is not added. Otherwise `implied` holds the literals decided.
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

  std::uint64_t work() const { return work_; }            ///< edges and atoms touched so far
  std::size_t memory() const;                             ///< bytes, estimated
  static std::size_t memory_for(std::size_t node_count);  ///< of the tables of one block alone

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  /// Below every length; a weight may be added to it.
  static constexpr std::int64_t kUnreached = std::numeric_limits<std::int64_t>::min() / 2;
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  struct Edge {
    std::uint32_t from;
    std::uint32_t to;
    std::int64_t weight;
    Literal cause;
    std::size_t changes;  ///< size of `changes_` before the edge
  };
  struct Arc {
    std::uint32_t to;
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
  struct Atom {
    std::uint32_t x = kNone;
    std::uint32_t y = kNone;
    std::int64_t bound = 0;
  };
  struct Change {
    std::size_t cell;
    std::int64_t longest;   ///< before
    std::int64_t decisive;  ///< before
  };
  static constexpr std::size_t kBytesOfCell = 2 * sizeof(std::int64_t) + sizeof(std::uint32_t);
  struct QueueEntry {
    std::int64_t key;
    std::uint32_t node;
  };
  struct Step {
    std::uint32_t node;
    std::int64_t distance;
  };

  /// Nodes from `begin` to `end`.
  struct Block {
    std::uint32_t begin;
    std::uint32_t end;
  };

  std::size_t cell(std::uint32_t from, std::uint32_t to) const { return rows_[from] + to; }
  void make_tables();
  Pair& pair_of(std::uint32_t x, std::uint32_t y);
  void watch_for(std::size_t cell, std::int64_t length);
  bool repair(std::uint32_t new_edge);
  void build_conflict(std::uint32_t new_edge);
  void lengthen(std::uint32_t new_edge);
  std::pair<std::span<const Step>, std::span<const Step>> around(const Edge& edge);
  std::int64_t decide(const Pair& pair, std::uint32_t higher, std::int64_t bound);
  static bool is_after(const QueueEntry& a, const QueueEntry& b);
  void clear_queue();
  void push(std::int64_t key, std::uint32_t node);
  QueueEntry pop();

  const std::vector<std::int8_t>& values_;
  std::vector<std::int64_t> potential_;
  std::vector<Edge> edges_;
  std::vector<std::vector<Arc>> out_;    ///< by node, in order of the edges
  std::size_t block_begin_ = 0;          ///< of the block to which nodes are added
  std::vector<std::uint32_t> block_of_;  ///< by node, in `blocks_`
  std::vector<Block> blocks_;
  std::vector<std::size_t> rows_;      ///< by node: its cell for node 0, if that were of its block
  std::vector<std::int64_t> longest_;  ///< path, by cell; empty before the first use
  /// By cell, the least length that decides another atom between the nodes. Shorter paths need no
  /// look at the atoms. Apart from `longest_`, which is read far more often.
  std::vector<std::int64_t> decisive_;
  std::vector<std::uint32_t> pair_at_;  ///< by cell: index in `pairs_` or kNone
  std::vector<Change> changes_;         ///< of the two, to be undone
  std::vector<Atom> atoms_;             ///< by variable; x is kNone if the variable is no atom
  std::vector<Pair> pairs_;
  std::size_t atom_count_ = 0;

  // Scratch of one search; an entry counts if its `seen_` or `final_` is the current run.
  std::vector<std::int64_t> label_;
  std::vector<std::uint32_t> seen_;
  std::vector<std::uint32_t> final_;
  std::vector<std::uint32_t> parent_;  ///< edge by which a node was reached
  std::uint32_t run_ = 0;
  std::vector<QueueEntry> queue_;  ///< a heap if `is_heap_`, else in no order
  bool is_heap_ = false;
  std::vector<std::pair<std::uint32_t, std::int64_t>> restored_;  ///< node, potential before
  std::vector<Step> tails_;  ///< nodes before the new edge; as long as there are nodes
  std::vector<Step> heads_;  ///< nodes behind it, as well

  std::vector<Literal> conflict_;
  std::vector<Literal> implied_;
  std::uint64_t work_ = 0;
};

}  // namespace twill::solve
