#include "twill/execute/byte_layout.h"

#include <algorithm>
#include <numeric>

#include "twill/execute/rounding.h"

namespace twill::execute {
namespace {

constexpr std::int64_t kChunk = 16;        ///< bytes that a swizzle keeps together
constexpr std::int64_t kLine = 128;        ///< bytes after which the permutation changes
constexpr std::int64_t kColumn = 128 * 4;  ///< bytes of a column of tensor memory
constexpr std::int64_t kBlockRows = 64;    ///< rows of a block that takes half of the lanes

/// Rank of a layout of shared memory for TMA, which the meaning (`ir::Encoding`) does not give.
/// Earlier dimensions count buffers.
std::size_t rank_of(ir::Attribute encoding) {
  if (const auto* rank = encoding->entry("rank")) return static_cast<std::size_t>(rank->integer);
  if (const auto* ctas = encoding->entry("CTAsPerCGA")) return ctas->elements.size();
  return 2;
}

/// Calls visit(i, index) for each element of a tile of that shape, in row-major order.
template <class Visit>
void for_each_index(const Shape& shape, Visit visit) {
  Shape at(shape.size(), 0);
  for (std::int64_t i = 0; i < size_of(shape); ++i) {
    visit(i, at);
    for (std::size_t d = at.size(); d > 0 && ++at[d - 1] == shape[d - 1]; --d) at[d - 1] = 0;
  }
}

using Bytes = std::vector<std::int64_t>;  ///< places of the bytes of a tile's elements

/// Places in blocks: rows of `swizzle_bytes` bytes, one below the other; further columns are in the
/// next block. In each line of 128 bytes, chunks are permuted by the number of the line.
std::optional<Bytes> in_blocks(const Shape& shape, const ir::NvmmaSharedEncoding& layout,
                               std::int64_t width) {
  if (layout.fp4_padded || shape.size() < 2) return std::nullopt;
  const std::size_t rank = shape.size();
  const std::int64_t across = layout.transposed ? shape[0] : shape[rank - 1];
  const std::int64_t rows = size_of(shape) / across;
  const std::int64_t swizzle = layout.swizzle_bytes;
  const std::int64_t row_bytes = swizzle == 0 ? across * width : swizzle;
  if (layout.transposed && rank != 2) return std::nullopt;
  if (row_bytes % width != 0 || across * width % row_bytes != 0) return std::nullopt;
  const std::int64_t chunks = std::max<std::int64_t>(swizzle / kChunk, 1);
  Bytes bytes;
  for_each_index(shape, [&](std::int64_t i, const Shape& at) {
    const std::int64_t column = layout.transposed ? at[0] : at[rank - 1];
    const std::int64_t row = layout.transposed ? at[1] : i / across;
    const std::int64_t block = column * width / row_bytes;
    const std::int64_t place = row * row_bytes + column * width % row_bytes;
    bytes.push_back(block * rows * row_bytes + (place ^ (place / kLine % chunks * kChunk)));
  });
  return bytes;
}

/// Places in rows that threads write: groups of `vec` elements are permuted by the number of the
/// row.
std::optional<Bytes> in_phases(const Shape& shape, const ir::SwizzledSharedEncoding& layout,
                               std::int64_t width) {
  const std::size_t rank = shape.size();
  if (layout.vec <= 0 || layout.per_phase <= 0 || layout.max_phase <= 0) return std::nullopt;
  std::vector<std::int64_t> sorted = layout.order;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t d = 0; d < rank; ++d) {
    if (sorted[d] != static_cast<std::int64_t>(d)) return std::nullopt;
  }
  Shape strides(rank, 1);
  std::int64_t stride = 1;
  for (const std::int64_t d : layout.order) {
    strides[static_cast<std::size_t>(d)] = stride;
    stride *= shape[static_cast<std::size_t>(d)];
  }
  const auto minor = static_cast<std::size_t>(layout.order[0]);
  Bytes bytes;
  for_each_index(shape, [&](std::int64_t, const Shape& at) {
    std::int64_t place = std::inner_product(at.begin(), at.end(), strides.begin(), std::int64_t{0});
    if (rank > 1) {
      const std::int64_t row = at[static_cast<std::size_t>(layout.order[1])];
      const std::int64_t phase = row / layout.per_phase % layout.max_phase;
      place += (at[minor] ^ (phase * layout.vec % shape[minor])) - at[minor];
    }
    bytes.push_back(place * width);
  });
  return bytes;
}

/// Places in blocks of 128 lanes, side by side. Two blocks of 64 rows share columns, with 16 lanes
/// each in turn.
std::optional<Bytes> in_lanes(const Shape& shape, const ir::TensorMemoryEncoding& layout,
                              std::int64_t width) {
  const bool known = (layout.block_m == 128 || layout.block_m == kBlockRows) &&
                     layout.block_n > 0 && layout.col_stride > 0 && shape.size() == 2 && width <= 4;
  if (!known) return std::nullopt;
  const std::int64_t step = layout.unpacked ? 4 : width * layout.col_stride;
  const std::int64_t down = std::max<std::int64_t>(shape[0] / layout.block_m, 1);
  const bool halves = layout.block_m == kBlockRows;
  Bytes bytes;
  for_each_index(shape, [&](std::int64_t, const Shape& at) {
    const std::int64_t block = at[1] / layout.block_n * down + at[0] / layout.block_m;
    const std::int64_t row = at[0] % layout.block_m;
    const std::int64_t lane = halves ? row / 16 * 32 + block % 2 * 16 + row % 16 : row;
    const std::int64_t column =
        ((halves ? block / 2 : block) * layout.block_n + at[1] % layout.block_n) * step;
    bytes.push_back(column / 4 * kColumn + lane * 4 + column % 4);
  });
  return bytes;
}

/// Bytes from one tile of a layout to the next, if the layout counts buffers.
std::int64_t pitch_of(ir::Type type, const Shape& tile, const Bytes& bytes, std::int64_t width) {
  if (type->space != ir::MemorySpace::tensor) return size_of(tile) * width;
  const std::int64_t last = *std::max_element(bytes.begin(), bytes.end());
  return (last / kColumn + 1) * kColumn;
}

}  // namespace

std::optional<ByteLayout> byte_layout_of(ir::Type memdesc, std::int64_t base) {
  const int bits = memdesc->kind == ir::TypeKind::memdesc ? memdesc->element->bits : 0;
  if (bits == 0 || bits % 8 != 0 || memdesc->encoding == nullptr) return std::nullopt;
  const bool floating = memdesc->element->kind == ir::TypeKind::floating;
  if (floating && !format_of(memdesc->element)) return std::nullopt;
  if (ir::element_count(memdesc) <= 0) return std::nullopt;
  const auto blocks = ir::nvmma_shared_encoding(memdesc->encoding);
  const auto phases = ir::swizzled_shared_encoding(memdesc->encoding);
  const auto lanes = ir::tensor_memory_encoding(memdesc->encoding);
  const std::size_t rank = phases ? phases->order.size() : blocks ? rank_of(memdesc->encoding) : 2;
  const Shape& shape = memdesc->shape;
  if (rank == 0 || rank > shape.size()) return std::nullopt;
  const auto behind = shape.end() - static_cast<std::ptrdiff_t>(rank);
  const Shape tile(behind, shape.end());
  const std::int64_t width = bits / 8;
  const auto bytes = blocks   ? in_blocks(tile, *blocks, width)
                     : phases ? in_phases(tile, *phases, width)
                     : lanes  ? in_lanes(tile, *lanes, width)
                              : std::nullopt;
  if (!bytes) return std::nullopt;
  const std::int64_t pitch = pitch_of(memdesc, tile, *bytes, width);
  ByteLayout made{memdesc, 0, base, width, {}};
  for (std::int64_t buffer = 0; buffer < size_of(Shape(shape.begin(), behind)); ++buffer) {
    for (const std::int64_t byte : *bytes) made.at.push_back(base + buffer * pitch + byte);
  }
  return made;
}

}  // namespace twill::execute
