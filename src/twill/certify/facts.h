#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "twill/problem/ops.h"

/// Facts of a Problem with one alternative per op, by the rules in force, in plain numbers.
namespace twill::certify {

struct OpFacts {
  std::optional<std::size_t> unit;  ///< empty as well if the rule `unit` is relaxed
  Cycles occupancy = 0;
  Cycles issue = 0;
  Cycles span = 1;
  std::int64_t registers = 0;
  bool always_waits = false;
  std::vector<std::size_t> groups;  ///< groups that may run the op, ascending
  std::size_t home = 0;             ///< the op that shares its group: the op itself, except for
                                    ///< transfer ops
  /// Pairs of ops for a transfer op, which exists if the groups of one pair differ.
  std::vector<std::pair<std::size_t, std::size_t>> moves;

  bool always() const { return moves.empty(); }
};

/// Dependence: M(to) - M(from) >= delay [+ transfer if the groups differ] - distance * II.
struct Edge {
  std::size_t from = 0;
  std::size_t to = 0;
  Cycles delay = 0;
  Cycles distance = 0;
  Cycles transfer = 0;
};

/// Reading of a value, until M(reader) + distance * II + hold.
struct Reading {
  std::size_t reader = 0;
  Cycles distance = 0;
  Cycles hold = 0;
  std::optional<Cycles> abroad;  ///< least cycles from the issue of the value to the end of this
                                 ///< reading by a reader in another group; if known
  bool transferable = false;     ///< a reader in another group reads the result of a load instead
};

/// Buffer: values at one range of addresses. One value, or all values that in-place dependences tie
/// together.
struct BufferFacts {
  std::vector<std::size_t> ops;  ///< ascending; each has a value with readers
  std::int64_t size = 0;         ///< size of one copy: the largest of the values
};

struct Facts {
  std::vector<OpFacts> ops;
  std::vector<Edge> edges;                        ///< empty if the rule `dependence` is relaxed
  std::vector<std::vector<Reading>> readings;     ///< by op that makes the value
  std::vector<std::vector<BufferFacts>> buffers;  ///< by memory; empty if `placement` is relaxed

  bool may_share(std::size_t a, std::size_t b) const;
  /// Buffer of that memory in which the value of the op lies; null if there is none.
  const BufferFacts* buffer_of(std::size_t op, std::size_t memory) const;
};

/// Width of the widest group that is no load group, in warps; 0 without such a group.
int compute_width(const problem::Problem& problem);

/// Whether the rules in force let the group run the op: by width, and loads in load groups.
bool may_run(const problem::Problem& problem, const problem::Op& op, const problem::Group& group);

/// Whether the rule `minimum-groups` counts the group.
bool computes(const problem::Problem& problem, std::size_t group);

/// Collects the facts. Precondition: every op has one alternative.
Facts facts_of(const problem::Problem& problem);

/// Longest paths of dependences within one iteration, by pair of ops, over ops that always exist;
/// kNoPath without a path. Edges with a distance are left out.
inline constexpr Cycles kNoPath = -1;
std::vector<std::vector<Cycles>> longest_paths(const Facts& facts);

/// Least life of each op's value at this II, in cycles, if the op exists. It is the longest path to
/// the end of a reading, over ops that always exist. For a value that may be transferred: to the
/// end of the store's reading, if that is less. For the value of a transfer op: to the first end of
/// a reading. Precondition: no circuit of edges is positive at this II.
std::vector<Cycles> least_lives(const Facts& facts, Cycles interval);

/// Largest of: occupancies on one unit, demands on one pipe, an op's issue cycles, and 1. Counts
/// ops that always exist: no II below the result has a schedule.
Cycles least_load(const problem::Problem& problem, const Facts& facts);

/// II at which there is a schedule if there is one at any II (docs/reference/certificate.md).
Cycles decisive_interval(const problem::Problem& problem, const Facts& facts);

/// Whether the stretch lemma is proven for the rule: a schedule at II, with M moved to M + floor(M
/// / II), obeys the rule at II + 1.
bool survives_stretching(problem::Rule rule);

}  // namespace twill::certify
