#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "twill/emit/cuda/shared_tiles.h"
#include "twill/emit/cuda/view.h"

/// Tiles that the threads of a role copy through pointers into shared memory (cp.async): the chunks
/// of a thread, and the values kept for addresses.
namespace twill::emit::cuda {

/// A load that threads copy. They copy chunks: neighbours in memory and in the slot alike, under
/// one mask. Within a panel of the slot, consecutive threads have consecutive chunks of a row, and
/// all threads together several rows. Panels follow each other, if that divides evenly.
struct Copy {
  ir::OpId load;
  SharedTile tile;
  bool flipped = false;     ///< rows of the slot are columns of the load
  std::int64_t bytes = 16;  ///< bytes of a chunk: 16, 8 or 4
  int threads = 128;        ///< threads of the role

  std::int64_t elements() const { return bytes / 2; }  ///< elements of a chunk
  std::int64_t in_row() const {
    return panel_elements(tile) / elements();
  }  ///< chunks in a row of
     ///< a panel
  std::int64_t panels() const { return tile.columns / panel_elements(tile); }
  std::int64_t chunks() const { return panels() * tile.rows * in_row(); }  ///< chunks of the tile
  std::int64_t each() const {
    return (chunks() + threads - 1) / threads;
  }  ///< most chunks of a thread
  std::int64_t rows_at_once() const { return threads / in_row(); }
  bool even() const { return tile.rows % rows_at_once() == 0; }
  /// Number of rows, and of columns, at which a thread has chunks; where uneven, each chunk has its
  /// own row and column.
  std::int64_t row_slots() const { return even() ? tile.rows / rows_at_once() : each(); }
  std::int64_t column_slots() const { return even() ? panels() : each(); }
};

/// The load that an op of the plan copies; fails if the op copies none.
Result<ir::OpId> load_copied_by(const View& view, OpId op);

/// The load as a copy by `threads` threads, a multiple of 32. Fails if it does not fill a tile that
/// wgmma reads, or if no chunks of its elements are proven to lie side by side.
Result<Copy> copy_of(const View& view, ir::OpId load, int threads);

/// A vector along the rows or columns of the load that costs more than two instructions: a
/// quotient, a remainder, or a loaded value. Threads compute their elements once. Cheap values are
/// computed from them chunk by chunk, without registers.
struct KeptVector {
  ir::ValueId value;
  bool in_loop = false;    ///< once an iteration, else once a tile
  bool along_rows = true;  ///< along the rows of the load, else along its columns
};

struct Kept {
  std::vector<KeptVector> vectors;
  std::vector<ir::ValueId> scalars;  ///< scalars loaded in the loop: computed once an iteration
};

/// Values kept for the parts of an address and mask that are computed chunk by chunk.
Kept kept_for(const View& view, const std::vector<ir::ValueId>& computed);

}  // namespace twill::emit::cuda
