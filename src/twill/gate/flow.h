#pragma once

#include <cstddef>
#include <vector>

#include "twill/gate/sass.h"

namespace twill::gate {

/// The part of a function that is reachable from one of its instructions.
struct Flow {
  /// Indices of instructions. Each follows all its predecessors on paths without back edges; the
  /// first is the start of the flow.
  std::vector<std::size_t> order;
  /// Successors of each instruction of the function; empty outside of `order`.
  std::vector<std::vector<std::size_t>> next;
};

/// Instructions reachable from `first` without executing a USETMAXREG other than `first`.
Flow flow_from(const SassFunction& function, std::size_t first);

/// The natural loops of a flow. Each is the positions in `order` of its instructions, ascending;
/// the first is its head, which dominates the others. Loops with the same head are one loop.
std::vector<std::vector<std::size_t>> loops_of(const Flow& flow);

}  // namespace twill::gate
