#pragma once

#include <optional>
#include <set>
#include <vector>

#include "twill/ir/program.h"

namespace twill::concurrent {

struct Guide;

/// Operands by which roles decide: slots, phases, predicates, and conditions of branches and loops
/// that are not idle. `guide` must already have `idle` and `asked_ends`.
std::vector<ir::ValueId> deciding_operands(const ir::Program& program, ir::OpId op,
                                           const Guide& guide);

/// Ops that a run must compute with their tiles so that roles take the right steps. An example is
/// the number of a tile that a role draws and passes to others through shared memory. All ops from
/// which that number is computed belong to the set. Empty optional where a floating-point tile
/// decides, such as a sum: then all tiles must be computed. Cost: linear in the ops.
std::optional<std::set<ir::OpId>> deciding_ops(const ir::Program& program, ir::OpId function);

}  // namespace twill::concurrent
