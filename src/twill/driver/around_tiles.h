#pragma once

#include "twill/ir/program.h"
#include "twill/plan/plan.h"
#include "twill/support/diagnostic.h"

/// Internal to the driver: ops around the main loop, and the program's own loops over tiles.
namespace twill::driver {

/// Whether an op, or an op in its regions, writes to global memory.
bool writes_global(const ir::Program& program, ir::OpId op);

/// The time at which roles do an op with tiles `before` or after the main loop. `in_loop`: it is in
/// no block of a tile, but around a loop over tiles. An op after that loop is done once. Fails for
/// other ops that are not done once per tile.
Result<plan::PerTileOp::When> when_of(const ir::Program& program, ir::OpId op, bool before,
                                      bool in_loop);

}  // namespace twill::driver
