#pragma once

#include <optional>
#include <vector>

#include "twill/problem/ops.h"
#include "twill/schedule/schedule.h"

namespace twill::schedule {

/// Circuit of dependences: its ops repeat no faster than every ceil(delay / distance) cycles
/// (RecMII; Rau, "Iterative Modulo Scheduling", MICRO 1994).
struct Recurrence {
  std::vector<problem::DependenceId> circuit;  ///< in order; each begins where the previous one
                                               ///< ends
  Cycles delay = 0;                            ///< summed along the circuit
  Cycles distance = 0;                         ///< iterations, summed; positive

  Cycles interval() const { return (delay + distance - 1) / distance; }
};

/// Finds a circuit with the largest interval() (RecMII); empty if no circuit has a delay. Every
/// dependence counts with its smallest delay over the alternatives of its source, without transfer.
/// Exact. Cost: a few runs of Bellman-Ford, each O(ops * dependences) at worst and O(dependences)
/// times the depth of nested recurrences as a rule.
std::optional<Recurrence> critical_recurrence(const problem::Problem& problem);

/// One such circuit for each strong component, a set of ops that all depend on each other. The
/// largest interval() comes first, then the lowest op. A component has one circuit in the list: a
/// faster circuit matters only once the slower one is mended.
std::vector<Recurrence> critical_recurrences(const problem::Problem& problem);

}  // namespace twill::schedule
