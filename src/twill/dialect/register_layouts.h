#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "twill/ir/type.h"

/// Adapts the text's layouts of register tiles to roles: to another number of warps, and to a part
/// of the rows. A layout may be null only where a comment says so.
namespace twill::dialect {

/// A tile for which a layout is wanted.
struct Piece {
  std::vector<std::int64_t> shape;  ///< of the piece
  std::optional<std::size_t> cut;   ///< dimension in which the piece is a part of the whole
  int warps = 4;                    ///< warps that hold the piece, a power of two
};

/// Adapts `layout` to `piece`. The tensor core's layout has all warps along the rows. A blocked
/// layout loses or gains warps in the dimension with most warps. A linear layout loses the bases
/// beyond the piece. Slices and operands of products follow their parents; layouts of shared memory
/// stay. Fails, with the reason, if no such layout exists.
tl::expected<ir::Attribute, std::string> for_piece(ir::TypeTable& types, ir::Attribute layout,
                                                   const Piece& piece);

/// A parent layout without one of its dimensions.
struct Slice {
  std::int64_t dimension = 0;
  ir::Attribute parent = nullptr;
};
/// Parts of a slice; nullopt for other layouts.
std::optional<Slice> slice_of(ir::Attribute layout);
/// Makes the slice of `parent` without a dimension.
ir::Attribute sliced(ir::TypeTable& types, std::int64_t dimension, ir::Attribute parent);

/// Whether a product leaves its result in that layout, or in the parent of that slice.
bool is_of_product(ir::Attribute layout);
/// Whether `layout` is for an operand of a product in registers.
bool is_of_operand(ir::Attribute layout);

/// Layout of a tile with two dimensions after each warp has rearranged its elements for stores. A
/// thread has 16 bytes of a row, and four threads have 64 bytes; elements stay in their warp. Null
/// unless warps have rows below one another, as products leave them. Null also for narrow tiles,
/// and for elements of other than 16 or 32 bits.
ir::Attribute in_rows(ir::TypeTable& types, ir::Type tile);
/// Bytes of shared memory for a change between layouts whose warps keep their elements. Triton
/// moves 16 bytes of each thread at a time. 0 between layouts of products whose threads have the
/// same elements. nullopt for other changes.
std::optional<std::int64_t> scratch_in_warps(ir::Attribute from, ir::Attribute to);

/// The dimension in which a blocked layout gives a thread neighbours first, with their number.
/// nullopt for other layouts.
struct Neighbours {
  std::size_t dimension = 0;
  std::int64_t count = 1;
};
std::optional<Neighbours> neighbours_of(ir::Attribute layout);

/// Number of different elements that a thread holds of a tile of that shape, including elements
/// that other threads hold too. nullopt for layouts without information about threads.
std::optional<std::int64_t> elements_of_thread(ir::Attribute layout,
                                               const std::vector<std::int64_t>& shape);

/// The memory space of shared memory, and the layout of barriers there.
ir::Attribute shared_memory(ir::TypeTable& types);
ir::Attribute barrier_layout(ir::TypeTable& types);
/// A layout of a tile that threads write and read in shared memory: rows of 16-byte vectors,
/// swizzled if the tile has two dimensions.
ir::Attribute staging_layout(ir::TypeTable& types, std::size_t rank, int element_bits);

/// Layout of a vector of one element, which all threads of that number of warps hold.
ir::Attribute single_layout(ir::TypeTable& types, int warps);

/// The type of an asynchronous copy's result.
ir::Type copy_token(ir::TypeTable& types);

/// A pointer to bytes in global memory.
ir::Type byte_pointer(ir::TypeTable& types);

/// Prefix, in the text, of the types of tiles in shared memory.
inline constexpr const char* kMemdesc = "!ttg.memdesc";

}  // namespace twill::dialect
