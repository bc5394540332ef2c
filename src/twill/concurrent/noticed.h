#pragma once

#include <optional>
#include <set>
#include <vector>

#include "twill/concurrent/forms.h"
#include "twill/concurrent/guide.h"

/// Facts about a function's text of which a guide is made.
namespace twill::concurrent {

/// Where each value of the function is read, by value.
std::vector<Reads> reads_of(const ir::Program& program, ir::OpId function);

/// Loops and branches in which nothing is done that roles could notice, and the conditions of such
/// while loops.
std::set<ir::OpId> idle_ops(const ir::Program& program, ir::OpId function);

/// The op at the end of a while loop's first region; nothing for other ops.
std::optional<ir::OpId> condition_of(const ir::Program& program, ir::OpId loop);

/// Whether a value depends on shared memory, or on an atomic update.
bool is_read_from_changing(const ir::Program& program, ir::ValueId value);

/// A loop over the iterations of all tiles, in which a counter starts anew with each tile.
struct TileCounter {
  ir::OpId condition;  ///< holds in a tile's last iteration: compares the counter
  LinearForm count;    ///< of a tile's iterations
};
std::optional<TileCounter> tile_counter(const ir::Program& program, Forms& forms, ir::OpId loop);

}  // namespace twill::concurrent
