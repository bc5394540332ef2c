#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "twill/ir/type.h"

/// Adapts the text's layouts of register tiles to roles: to another number of warps, and to a part
/// of the rows. A layout is never null here unless it says so.
namespace twill::dialect {

/// A tile that is to be laid out anew.
struct Piece {
  std::vector<std::int64_t> shape;  ///< of the piece
  std::optional<std::size_t> cut;   ///< dimension in which it is a part of the whole
  int warps = 4;                    ///< that hold it, a power of two
};

/// `layout` for `piece`. The tensor core's layout has all warps along the rows. A blocked layout
/// loses or gains warps in the dimension with most. A linear layout loses the bases beyond the
/// piece. Slices and operands of products follow their parents; layouts of shared memory stay.
/// Fails, with the reason, for a layout without such a piece.
tl::expected<ir::Attribute, std::string> for_piece(ir::TypeTable& types, ir::Attribute layout,
                                                   const Piece& piece);

/// A layout without one of the dimensions of its parent.
struct Slice {
  std::int64_t dimension = 0;
  ir::Attribute parent = nullptr;
};
/// nullopt if `layout` is no slice.
std::optional<Slice> slice_of(ir::Attribute layout);
/// `parent` without a dimension.
ir::Attribute sliced(ir::TypeTable& types, std::int64_t dimension, ir::Attribute parent);

/// Whether a product leaves its result in that layout, or in the parent of that slice.
bool is_of_product(ir::Attribute layout);
/// Whether `layout` is of a product's operand in registers.
bool is_of_operand(ir::Attribute layout);

/// The layout of a tile with two dimensions once each warp has moved its elements for stores. A
/// thread has 16 bytes of a row, and four threads 64; no element leaves its warp. Null unless warps
/// have rows below one another, as products leave them. Null also for narrow tiles, and for
/// elements of other than 16 or 32 bits.
ir::Attribute in_rows(ir::TypeTable& types, ir::Type tile);
/// Bytes of shared memory for a change between such layouts: Triton moves 16 bytes of each thread
/// at a time. None between layouts of products whose threads have the same elements. nullopt for
/// other changes.
std::optional<std::int64_t> scratch_in_warps(ir::Attribute from, ir::Attribute to);

/// The dimension in which a blocked layout gives neighbours to a thread first, and how many.
/// nullopt for other layouts.
struct Neighbours {
  std::size_t dimension = 0;
  std::int64_t count = 1;
};
std::optional<Neighbours> neighbours_of(ir::Attribute layout);

/// Different elements of a tile of that shape that a thread holds, with those that others hold too.
/// nullopt for layouts that say nothing of threads.
std::optional<std::int64_t> elements_of_thread(ir::Attribute layout,
                                               const std::vector<std::int64_t>& shape);

/// The memory space of shared memory, and the layout of barriers there.
ir::Attribute shared_memory(ir::TypeTable& types);
ir::Attribute barrier_layout(ir::TypeTable& types);
/// A layout of a tile that threads write and read in shared memory: rows of 16-byte vectors,
/// swizzled if it has two dimensions.
ir::Attribute staging_layout(ir::TypeTable& types, std::size_t rank, int element_bits);

/// The layout of a vector of one element, which all threads of so many warps have.
ir::Attribute single_layout(ir::TypeTable& types, int warps);

/// The type of an asynchronous copy's result.
ir::Type copy_token(ir::TypeTable& types);

/// A pointer to bytes in global memory.
ir::Type byte_pointer(ir::TypeTable& types);

/// Prefix, in the text, of a type of tiles in shared memory.
inline constexpr const char* kMemdesc = "!ttg.memdesc";

}  // namespace twill::dialect
