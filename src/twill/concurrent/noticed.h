#pragma once

#include <optional>
#include <set>
#include <vector>

#include "twill/concurrent/forms.h"
#include "twill/concurrent/guide.h"

/// Facts about a function's text from which a guide is made.
namespace twill::concurrent {

/// Places where each value of the function is read, by value.
std::vector<Reads> reads_of(const ir::Program& program, ir::OpId function);

/// Loops and branches without an op that roles could notice, and the conditions of these while
/// loops.
std::set<ir::OpId> idle_ops(const ir::Program& program, ir::OpId function);

/// The op at the end of a while loop's first region; nullopt for other ops.
std::optional<ir::OpId> condition_of(const ir::Program& program, ir::OpId loop);

/// Whether a value depends on shared memory, or on an atomic update.
bool is_read_from_changing(const ir::Program& program, ir::ValueId value);

/// Loop over the iterations of all tiles, with a counter that starts anew with each tile.
struct TileCounter {
  ir::OpId condition;  ///< holds in a tile's last iteration: compares the counter
  LinearForm count;    ///< iterations of a tile
};
std::optional<TileCounter> tile_counter(const ir::Program& program, Forms& forms, ir::OpId loop);

}  // namespace twill::concurrent
