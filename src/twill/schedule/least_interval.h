#pragma once

#include <string>
#include <vector>

#include "twill/schedule/order.h"

/// The cheap question: given only groups, stages and sequences, how fast can it run? What is left
/// to choose are differences of issue cycles, so the least II is the largest ratio of delay to
/// iterations over all circuits of the order's constraints.
namespace twill::schedule {

/// The circuit that keeps II from being smaller: II >= ceil(delay / iterations).
struct CriticalCircuit {
  std::vector<OpId> ops;           ///< in order; edge i leaves ops[i]
  std::vector<std::string> edges;  ///< "qkA -> rmaxA: dependence, 576 cycles"
  Cycles delay = 0;
  Cycles iterations = 0;
};

struct LeastInterval {
  Cycles initiation_interval = 1;
  Schedule schedule;        ///< every op as early as it can be, the first one at cycle 0. It obeys
                            ///< dependence, unit, blocking and one-stream as far as in force;
                            ///< memory and registers are up to `verify`
  CriticalCircuit circuit;  ///< empty if II is 1
};

/// The least II at which some schedule follows the order, and the earliest such schedule. Fails if
/// the order does not fit the Problem (see `completed`), if no II is large enough (a circuit that
/// leads back to the same or an earlier iteration; the message names it), or if the order is too
/// large to be searched exactly in 64 bits.
/// Cost: a few runs of Bellman-Ford over dependences, sequences and blocking ops.
Result<LeastInterval> least_interval(const problem::Problem& problem, const Order& order);

}  // namespace twill::schedule
