#include "twill/ir/encoding.h"

#include "twill/ir/type.h"

namespace twill::ir {
namespace {

template <class Kind>
std::optional<Kind> encoding_as(Attribute encoding) {
  const Kind* found = encoding != nullptr ? std::get_if<Kind>(&encoding->encoding) : nullptr;
  return found != nullptr ? std::optional(*found) : std::nullopt;
}

std::int64_t ceil_div(std::int64_t value, std::int64_t by) {
  return value / by + (value % by != 0 ? 1 : 0);
}

}  // namespace

std::optional<MmaEncoding> mma_encoding(Attribute encoding) {
  return encoding_as<MmaEncoding>(encoding);
}

std::optional<DotOperandEncoding> dot_operand_encoding(Attribute encoding) {
  return encoding_as<DotOperandEncoding>(encoding);
}

std::optional<NvmmaSharedEncoding> nvmma_shared_encoding(Attribute encoding) {
  return encoding_as<NvmmaSharedEncoding>(encoding);
}

std::optional<SwizzledSharedEncoding> swizzled_shared_encoding(Attribute encoding) {
  return encoding_as<SwizzledSharedEncoding>(encoding);
}

std::optional<TensorMemoryEncoding> tensor_memory_encoding(Attribute encoding) {
  return encoding_as<TensorMemoryEncoding>(encoding);
}

std::optional<std::size_t> fastest_dimension(Attribute encoding, std::size_t rank) {
  if (rank == 0) return std::nullopt;
  if (const auto layout = nvmma_shared_encoding(encoding)) {
    return layout->transposed ? 0 : rank - 1;
  }
  const auto layout = swizzled_shared_encoding(encoding);
  if (!layout || layout->order.size() != rank) return std::nullopt;
  return static_cast<std::size_t>(layout->order.front());
}

std::optional<std::size_t> fastest_dimension(Type memdesc) {
  if (!is_memdesc(memdesc, MemorySpace::shared)) return std::nullopt;
  return fastest_dimension(memdesc->encoding, memdesc->shape.size());
}

std::int64_t tensor_memory_columns(Type memdesc) {
  if (!is_memdesc(memdesc, MemorySpace::tensor) || memdesc->shape.size() < 2) return 0;
  const auto layout = tensor_memory_encoding(memdesc->encoding);
  if (!layout || layout->block_m <= 0 || layout->block_n <= 0) {
    return encoding_as<TensorMemoryScalesEncoding>(memdesc->encoding)
               ? ceil_div(byte_size(memdesc), 32 * 4)  // scales are broadcast over four warps
               : 0;
  }
  const std::size_t rank = memdesc->shape.size();
  const std::int64_t rows = memdesc->shape[rank - 2];
  const std::int64_t count = element_count(memdesc);
  if (rows <= 0 || count <= 0) return 0;
  const std::int64_t block = std::int64_t{layout->block_m} * layout->block_n;
  const std::int64_t blocks = ceil_div(count, block);
  // Two blocks of 64 rows share the 128 lanes.
  const std::int64_t side_by_side = layout->block_m == 64 ? ceil_div(blocks, 2) : blocks;
  const std::int64_t bits =
      layout->unpacked ? 32 : std::int64_t{element_bits(memdesc)} * layout->col_stride;
  return ceil_div(side_by_side * layout->block_n * bits, 32);
}

int tensor_memory_lanes(Type memdesc) {
  if (!is_memdesc(memdesc, MemorySpace::tensor)) return 0;
  const auto layout = tensor_memory_encoding(memdesc->encoding);
  if (!layout || layout->block_m != 64) return 128;
  return element_count(memdesc) > 64 * std::int64_t{layout->block_n} ? 128 : 64;
}

}  // namespace twill::ir
