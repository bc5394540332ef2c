#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "twill/execute/tile.h"
#include "twill/ir/program.h"

/// Where the elements of a buffer lie in its bytes. Only who looks at memory with another type must
/// know: docs/reference/warp-roles.md, "Memory with another type".
namespace twill::execute {

/// Bytes of all elements of a memdesc.
struct ByteLayout {
  ir::Type type = nullptr;       ///< of the memdesc
  std::size_t number = 0;        ///< among the types that its memory is looked at with; 0: its own
  std::int64_t base = 0;         ///< byte from which it is laid out
  std::int64_t width = 0;        ///< bytes of an element
  std::vector<std::int64_t> at;  ///< first byte of each element, in row-major order
};

/// Shared memory as TMA, wgmma and threads address it, swizzles included. Tensor memory as words of
/// 32 bits: all 128 lanes of a column, then the next column. Nullopt where the layout is not known.
/// Cost: linear in the elements.
std::optional<ByteLayout> byte_layout_of(ir::Type memdesc, std::int64_t base);

/// Memory of an allocation. Once it is looked at with another type, `bytes` has its contents, and
/// the tile no longer.
struct TileMemory : Tile {
  explicit TileMemory(Tile elements, ir::Type its_type = nullptr)
      : Tile(std::move(elements)), type(its_type) {}
  ir::Type type;                  ///< as it was allocated; null: it is looked at with no other
  std::optional<ByteLayout> own;  ///< of `type`, once it is needed
  std::vector<std::uint8_t> bytes;
  std::vector<std::shared_ptr<const ByteLayout>> others;  ///< of the types it is looked at with
};

}  // namespace twill::execute
