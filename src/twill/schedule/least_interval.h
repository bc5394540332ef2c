#pragma once

#include <string>
#include <vector>

#include "twill/schedule/order.h"

/// Least II of an order: only groups, stages and sequences are given. Differences of issue cycles
/// are all that is left to choose. So the least II is the largest ratio of delay to iterations over
/// all circuits of the order's constraints.
namespace twill::schedule {

/// Circuit that keeps the II from being smaller: II >= ceil(delay / iterations).
struct CriticalCircuit {
  std::vector<OpId> ops;           ///< in order; edge i leaves ops[i]
  std::vector<std::string> edges;  ///< "qkA -> rmaxA: dependence, 576 cycles"
  Cycles delay = 0;
  Cycles iterations = 0;
};

struct LeastInterval {
  Cycles initiation_interval = 1;
  Schedule schedule;        ///< every op at its earliest cycle, the first op at cycle 0. The
                            ///< schedule obeys dependence, unit, blocking and one-stream as far as
                            ///< in force; `verify` checks memory and registers
  CriticalCircuit circuit;  ///< empty if II is 1
};

/// Finds the least II of at least `at_least` at which some schedule follows the order, and the
/// earliest such schedule. The circuit is empty where `at_least` alone keeps the II from being
/// smaller.
///
/// Fails if the order does not fit the Problem (see `completed`), or is too large for an exact
/// search in 64 bits. Fails, too, if no II is large enough: a circuit leads back to the same or an
/// earlier iteration, and the message names the circuit. Cost: a few runs of Bellman-Ford over
/// dependences, sequences and blocking ops.
Result<LeastInterval> least_interval(const problem::Problem& problem, const Order& order,
                                     Cycles at_least = 1);

}  // namespace twill::schedule
