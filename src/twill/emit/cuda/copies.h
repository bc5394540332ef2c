#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "twill/emit/cuda/shared_tiles.h"
#include "twill/emit/cuda/view.h"

/// Tiles that the threads of a role copy through pointers into shared memory (cp.async): what of
/// them a thread copies, and what it keeps for their addresses.
namespace twill::emit::cuda {

/// A load that is such a copy. Threads copy chunks: neighbours in memory and in the slot alike,
/// under one mask. Consecutive threads have consecutive chunks of a row as it lies in memory.
struct Copy {
  ir::OpId load;
  SharedTile tile;
  bool flipped = false;     ///< rows of the slot are columns of the load
  std::int64_t bytes = 16;  ///< of a chunk: 16, 8 or 4
  int threads = 128;        ///< of the role

  std::int64_t elements() const { return bytes / 2; }                ///< of a chunk
  std::int64_t in_row() const { return tile.columns / elements(); }  ///< chunks
  std::int64_t chunks() const { return tile.rows * in_row(); }       ///< of the tile
  std::int64_t each() const {
    return (chunks() + threads - 1) / threads;
  }  ///< of a thread, at most
  /// A thread has so many chunks of each of its rows, and so many rows.
  std::int64_t of_row() const { return std::max<std::int64_t>(1, in_row() / threads); }
  std::int64_t rows_each() const { return std::max<std::int64_t>(1, each() / of_row()); }
};

/// The load that an op of the plan copies; fails if that is none.
Result<ir::OpId> load_copied_by(const View& view, OpId op);

/// The load as a copy by `threads` threads, a multiple of 32. Fails if it does not fill a tile that
/// wgmma reads, or if no chunks of its elements are proven to lie side by side.
Result<Copy> copy_of(const View& view, ir::OpId load, int threads);

/// A vector along the rows or columns of what is loaded that costs more than an instruction or two:
/// a quotient, a remainder, or something loaded. Threads compute their elements of it once, and
/// from it, chunk by chunk, what is cheap: that takes no registers.
struct KeptVector {
  ir::ValueId value;
  bool in_loop = false;    ///< once an iteration, else once a tile
  bool along_rows = true;  ///< of the load
};

struct Kept {
  std::vector<KeptVector> vectors;
  std::vector<ir::ValueId> scalars;  ///< loaded in the loop: once an iteration
};

/// What is kept for the addresses and the mask of a load.
Kept kept_for(const View& view, ir::OpId load);

}  // namespace twill::emit::cuda
