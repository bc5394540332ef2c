#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "twill/problem/ops.h"
#include "twill/schedule/schedule.h"

/// Instance: a Problem whose ops have one alternative each, in the numbers that encoding,
/// tightening and re-check use.
namespace twill::solve {

using problem::Rule;

/// Numbers of an op. Ops, groups and units are plain indices in this room.
struct Task {
  std::optional<std::size_t> unit;  ///< empty as well if the rule `unit` is relaxed
  Cycles occupancy = 0;
  Cycles issue = 0;
  Cycles span = 1;
  std::int64_t registers = 0;
  bool waits = false;               ///< blocking in all choices of groups
  std::vector<std::size_t> groups;  ///< groups that may run the op, ascending
  std::int64_t staged = 0;  ///< bytes in the memory `staging` for each warp of its group, if a
                            ///< reader is in another group
  std::size_t home = 0;     ///< op whose group it shares: itself, or for a transfer op its value or
                            ///< reader
  /// For transfer ops, which exist iff the groups of one of these pairs differ; empty for others.
  std::vector<std::pair<std::size_t, std::size_t>> moves;

  bool always() const { return moves.empty(); }
};

/// Dependence: issue(to) >= issue(from) + delay [+ transfer if the groups differ] - distance * II,
/// if both ops exist.
struct Precedence {
  std::size_t from = 0;
  std::size_t to = 0;
  Cycles distance = 0;
  Cycles delay = 0;
  Cycles transfer = 0;
};

/// Read of a value by `reader` of `distance` iterations later, until `hold` cycles after its issue,
/// if both exist.
struct Read {
  std::size_t reader = 0;
  Cycles distance = 0;
  Cycles hold = 0;
  Cycles transfer = 0;        ///< added by the dependence if the groups differ; 0 if it is not in
                              ///< force
  Cycles delay = 0;           ///< of the dependence; 0 if it is not in force
  bool transferable = false;  ///< a reader in another group reads the result of a load instead
};

/// Value in a storage, with its amount per live copy.
struct Occupant {
  std::size_t op = 0;
  std::int64_t amount = 0;
};

/// Accumulator: values of the same size in registers, around a circuit. Each is read by the op
/// before it in the list, the first by the last op. A round takes `distance` iterations, so in any
/// cycle exactly that many copies are alive.
struct Accumulator {
  std::vector<std::size_t> ops;  ///< at least two
  std::int64_t amount = 0;
  Cycles distance = 0;  ///< at least 1
};

/// Buffer: values at one range of addresses. One value, or all values that in-place dependences tie
/// together.
struct Buffer {
  std::vector<std::size_t> ops;  ///< ascending
  std::int64_t size = 0;         ///< size of one copy: the largest of the values
};

/// Memory, with the values that may live in it.
struct Store {
  std::int64_t capacity = 0;
  std::vector<Occupant> values;
  std::vector<Buffer> buffers;  ///< of these values; empty if the rule `placement` is relaxed
};

struct Instance {
  const problem::Problem* problem = nullptr;
  std::vector<Task> tasks;                ///< by op
  std::vector<Precedence> precedences;    ///< empty if the rule is relaxed
  std::vector<std::vector<Read>> reads;   ///< by op that produces the value
  std::vector<Store> memories;            ///< empty if the rule is relaxed
  std::vector<Occupant> register_values;  ///< values in registers with a reader; empty if the rule
                                          ///< is relaxed
  std::vector<Accumulator> accumulators;  ///< disjoint
  std::optional<std::size_t> staging;     ///< memory that must have room for values that change
                                          ///< groups
  bool one_stream = true;
  bool blocking = true;

  std::size_t op_count() const { return tasks.size(); }
  std::size_t group_count() const { return problem->groups().size(); }
};

/// Makes the instance, which points into `problem`. Precondition: every op has exactly one
/// alternative. `room_for_staging` as in Options.
Instance instance_of(const problem::Problem& problem, bool room_for_staging = false);

/// Bytes in which the value waits in `staging` if that group makes it and another group reads it.
std::int64_t staged_bytes(const Instance& instance, std::size_t value, std::size_t group);
/// Whether the value waits there, since some reader is in another group.
bool is_staged(const Instance& instance, const schedule::Schedule& schedule, std::size_t value);

/// Least II, at least 1, at which the loads of units and pipes fit and no op alone is too long.
/// Transfer ops are left out.
Cycles load_bound(const Instance& instance);

/// Longest paths of dependences within one iteration, over ops that always exist, which exceed
/// every single dependence between their ends. In any schedule, issue(to) >= issue(from) + delay,
/// for all choices of groups. At most one for two ops, ordered by ops. Cost: ops times dependences
/// for each op, at worst.
std::vector<Precedence> longest_paths(const Instance& instance);

/// Fewest cycles that each op's value lives in any schedule of this II in which the op exists; 0
/// without a reader. Meaningless if the dependences cannot be met at this II. Cost: ops times
/// dependences.
std::vector<Cycles> least_lifetimes(const Instance& instance, Cycles ii);

/// Decisive II: if the instance is feasible at any II, it is feasible at this II.
///
/// Smaller IIs: the stretch lemma. Larger IIs: in a schedule of a larger II, fix the groups, and of
/// every disjunction the side that holds. There remain inequalities M(b) >= M(a) + alpha + beta *
/// II, alpha >= 0. There alpha depends on `a`'s delays, occupancy, issue cycles and read holds only
/// (or is 1).
///
/// The inequalities have a solution at II iff no simple circuit has sum(alpha) + II * sum(beta) >
/// 0. There is none at the larger II. So circuits with sum(beta) >= 0 have sum(alpha) = sum(beta) =
/// 0 and never matter. All other circuits are harmless for every II >= sum(alpha). A simple circuit
/// leaves each op once, so the sum over all ops of the largest alpha is enough; the sums over pipes
/// must fit as well. Transfer ops count as if all existed.
Cycles decisive_interval(const Instance& instance);

}  // namespace twill::solve
