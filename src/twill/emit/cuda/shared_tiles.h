#pragma once

#include <optional>
#include <string>

#include "twill/emit/cuda/view.h"

namespace twill::emit::cuda {

/// A 16-bit tile in shared memory, in the form of TMA, which copies by threads use, too. It has
/// panels of `swizzle` bytes of its contiguous dimension, one after the other, each `rows` high.
struct SharedTile {
  plan::BufferId buffer;
  std::optional<OpId> op;  ///< that fills it in the loop; empty: filled before the loop
  std::int64_t rows = 0;   ///< of the tile as it lies in memory
  std::int64_t columns = 0;
  std::int64_t swizzle = 128;
  bool transposed = false;  ///< the reader sees rows and columns exchanged
  std::string type;         ///< of the elements
};

/// Fails, where it is loaded or computed, for an operand of a product that has not 16 bits.
Result<void> check_operands(const View& view);

/// The tile of a value in shared memory, or of a value that a descriptor loads. For copies by
/// threads, `value` is the allocation or a view of it. Fails for other layouts than those of TMA.
Result<SharedTile> shared_tile(const View& view, ir::ValueId value);

/// Bytes from one panel to the next, and elements of the contiguous dimension in one.
std::int64_t panel_bytes(const SharedTile& tile);
std::int64_t panel_elements(const SharedTile& tile);

/// The layout of a descriptor's blocks: swizzle in bytes; empty if the printer does not have it.
std::optional<std::int64_t> swizzle_of(ir::Type descriptor);
/// The same of blocks that are written, whose elements may be f32, too.
std::optional<std::int64_t> written_swizzle_of(ir::Type descriptor);
/// The reason why `swizzle_of` is empty: "has elements of 8 bits: ...".
std::string why_no_swizzle(ir::Type descriptor);

}  // namespace twill::emit::cuda
