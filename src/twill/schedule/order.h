#pragma once

#include <string>
#include <vector>

#include "twill/schedule/schedule.h"

/// A schedule without its cycles: which group runs which op, in which stage, and in which order
/// groups issue and units work. This is what papers publish and what barriers enforce. The least
/// initiation interval an order can reach is cheap to find: only differences of issue cycles are
/// left, so it is the maximum ratio of delay to iterations over all circuits.
namespace twill::schedule {

using problem::UnitId;

/// Where an op stands in an order.
struct Step {
  int stage = 0;  ///< round j of the steady state runs the op for iteration j - stage
  GroupId group;
  int way = 0;    ///< index into Op::ways
  friend bool operator==(const Step&, const Step&) = default;
};

/// One round of the steady state. The rounds of two sequences need not begin at the same cycle;
/// only the dependences tie them together.
struct Order {
  std::vector<Step> ops;                   ///< by OpId
  std::vector<std::vector<OpId>> groups;   ///< by GroupId: its ops in the order they are issued
  std::vector<std::vector<OpId>> units;    ///< by UnitId: its ops in the order they hold it; empty:
                                           ///< not given, allowed if all of them share a group
  friend bool operator==(const Order&, const Order&) = default;
};

/// The largest stage an order may name.
inline constexpr int kLargestStage = 1000;

/// The order a schedule follows: stages and sequences by slot, ops of equal slot by issue window
/// (empty first), then by id. Precondition: sizes, ways and groups of the schedule are in range.
Order order_of(const problem::Problem& problem, const Schedule& schedule);

/// The circuit that keeps II from being smaller, as one line per edge and its two sums:
/// II >= ceil(delay / iterations).
struct CriticalCircuit {
  std::vector<std::string> edges;  ///< "qkA -> rmaxA: dependence, 576 cycles"
  Cycles delay = 0;
  Cycles iterations = 0;
};

struct LeastInterval {
  Cycles initiation_interval = 1;
  Schedule schedule;         ///< the earliest one at that II: min issue cycle 0. It obeys dependence,
                             ///< unit, blocking and one-stream as far as in force; memory and
                             ///< registers are up to `verify`
  CriticalCircuit circuit;   ///< empty if II is 1
};

/// The least II at which some schedule follows the order, and the earliest such schedule.
/// Fails if the order does not fit the Problem (sizes, ops missing from their sequence, a shared
/// unit without a sequence), or if no II is large enough (a circuit whose sum of iterations is not
/// positive; the message names it), or if its numbers leave 64 bits.
/// Cost: a few runs of Bellman-Ford over dependences, sequences and blocking ops.
Result<LeastInterval> least_interval(const problem::Problem& problem, const Order& order);

}  // namespace twill::schedule
