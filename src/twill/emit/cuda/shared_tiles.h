#pragma once

#include <optional>
#include <string>

#include "twill/emit/cuda/view.h"

namespace twill::emit::cuda {

/// A 16-bit tile in shared memory, in the form of TMA, which copies by threads use, too. It
/// consists of panels, one after the other, each with `rows` rows of `swizzle` bytes of the
/// contiguous dimension.
struct SharedTile {
  plan::BufferId buffer;
  std::optional<OpId> op;  ///< the op that fills it in the loop; empty: filled before the loop
  std::int64_t rows = 0;   ///< rows of the tile as it lies in memory
  std::int64_t columns = 0;
  std::int64_t swizzle = 128;
  bool transposed = false;  ///< whether the reader sees rows and columns exchanged
  std::string type;         ///< type of the elements
};

/// Fails, where it is loaded or computed, for an operand of a product that has not 16 bits.
Result<void> check_operands(const View& view);

/// The tile of a value in shared memory, or of a value that a descriptor loads. For copies by
/// threads, `value` is the allocation or a view of it. Fails for other layouts than those of TMA.
Result<SharedTile> shared_tile(const View& view, ir::ValueId value);

/// Bytes from one panel to the next, and elements of the contiguous dimension in a panel.
std::int64_t panel_bytes(const SharedTile& tile);
std::int64_t panel_elements(const SharedTile& tile);

/// The layout of a descriptor's blocks: swizzle in bytes; empty if the printer does not support it.
std::optional<std::int64_t> swizzle_of(ir::Type descriptor);
/// The same for blocks that are written, whose elements may also be f32.
std::optional<std::int64_t> written_swizzle_of(ir::Type descriptor);
/// The reason why `swizzle_of` is empty: "has elements of 8 bits: ...".
std::string why_no_swizzle(ir::Type descriptor);

}  // namespace twill::emit::cuda
