#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "twill/execute/tile.h"
#include "twill/ir/program.h"

/// Places of a buffer's elements in its bytes. Only accesses with another type need them:
/// docs/reference/warp-roles.md, "Memory with another type".
namespace twill::execute {

/// Bytes of all elements of a memdesc.
struct ByteLayout {
  ir::Type type = nullptr;  ///< of the memdesc
  std::size_t number = 0;   ///< among the types with which its memory is accessed; 0: its own type
  std::int64_t base = 0;    ///< byte at which the layout begins
  std::int64_t width = 0;   ///< bytes of an element
  std::vector<std::int64_t> at;  ///< first byte of each element, in row-major order
};

/// Layout of shared memory as TMA, wgmma and threads address it, swizzles included. Tensor memory
/// is laid out as words of 32 bits: all 128 lanes of a column, then the next column. nullopt for an
/// unknown layout. Cost: linear in the elements.
std::optional<ByteLayout> byte_layout_of(ir::Type memdesc, std::int64_t base);

/// Memory of an allocation. After the first access with another type, `bytes` holds its contents
/// instead of the tile.
struct TileMemory : Tile {
  explicit TileMemory(Tile elements, ir::Type its_type = nullptr)
      : Tile(std::move(elements)), type(its_type) {}
  ir::Type type;                  ///< type of the allocation; null: no other type is used
  std::optional<ByteLayout> own;  ///< layout of `type`, computed when needed
  std::vector<std::uint8_t> bytes;
  std::vector<std::shared_ptr<const ByteLayout>> others;  ///< layouts of the other types used
};

}  // namespace twill::execute
