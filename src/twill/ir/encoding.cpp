#include "twill/ir/encoding.h"

#include <limits>

#include "twill/ir/program.h"

namespace twill::ir {
namespace {

/// True if `encoding` is dialect attribute `name` of any dialect prefix (ttg, triton_gpu, ...).
bool is_named(Attribute encoding, std::string_view name) {
  if (encoding == nullptr || encoding->kind != AttributeKind::dialect) return false;
  const std::string_view full = encoding->value;
  const std::size_t dot = full.find('.');
  return dot != std::string_view::npos && full.substr(dot + 1) == name;
}

int integer_entry(Attribute encoding, std::string_view key, int otherwise) {
  const Attribute entry = encoding->entry(key);
  if (entry == nullptr || entry->kind != AttributeKind::integer) return otherwise;
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  return entry->integer >= 0 && entry->integer <= kMost ? static_cast<int>(entry->integer)
                                                        : otherwise;
}

bool flag_entry(Attribute encoding, std::string_view key) {
  const Attribute entry = encoding->entry(key);
  return entry != nullptr && (entry->kind == AttributeKind::unit || entry->integer != 0);
}

std::vector<std::int64_t> list_entry(Attribute encoding, std::string_view key) {
  const Attribute entry = encoding->entry(key);
  if (entry == nullptr) return {};
  return integers_of(entry).value_or(std::vector<std::int64_t>());
}

std::int64_t ceil_div(std::int64_t value, std::int64_t by) {
  return value / by + (value % by != 0 ? 1 : 0);
}

}  // namespace

std::optional<MmaEncoding> mma_encoding(Attribute encoding) {
  if (!is_named(encoding, "nvidia_mma")) return std::nullopt;
  return MmaEncoding{integer_entry(encoding, "versionMajor", 0),
                     integer_entry(encoding, "versionMinor", 0), list_entry(encoding, "instrShape"),
                     list_entry(encoding, "warpsPerCTA")};
}

std::optional<DotOperandEncoding> dot_operand_encoding(Attribute encoding) {
  if (!is_named(encoding, "dot_op")) return std::nullopt;
  return DotOperandEncoding{integer_entry(encoding, "opIdx", 0),
                            integer_entry(encoding, "kWidth", 0), encoding->entry("parent")};
}

std::optional<NvmmaSharedEncoding> nvmma_shared_encoding(Attribute encoding) {
  if (!is_named(encoding, "nvmma_shared")) return std::nullopt;
  return NvmmaSharedEncoding{
      integer_entry(encoding, "swizzlingByteWidth", 0), flag_entry(encoding, "transposed"),
      integer_entry(encoding, "elementBitWidth", 0), flag_entry(encoding, "fp4Padded")};
}

std::optional<SwizzledSharedEncoding> swizzled_shared_encoding(Attribute encoding) {
  if (!is_named(encoding, "swizzled_shared") && !is_named(encoding, "shared")) return std::nullopt;
  return SwizzledSharedEncoding{
      integer_entry(encoding, "vec", 1), integer_entry(encoding, "perPhase", 1),
      integer_entry(encoding, "maxPhase", 1), list_entry(encoding, "order")};
}

std::optional<TensorMemoryEncoding> tensor_memory_encoding(Attribute encoding) {
  if (!is_named(encoding, "tensor_memory_encoding")) return std::nullopt;
  return TensorMemoryEncoding{
      integer_entry(encoding, "blockM", 0), integer_entry(encoding, "blockN", 0),
      integer_entry(encoding, "colStride", 1), flag_entry(encoding, "unpacked")};
}

std::optional<SliceEncoding> slice_encoding(Attribute encoding) {
  if (!is_named(encoding, "slice")) return std::nullopt;
  return SliceEncoding{integer_entry(encoding, "dim", 0), encoding->entry("parent")};
}

std::int64_t tensor_memory_columns(Type memdesc) {
  if (!is_memdesc(memdesc, MemorySpace::tensor) || memdesc->shape.size() < 2) return 0;
  const auto layout = tensor_memory_encoding(memdesc->encoding);
  if (!layout || layout->block_m <= 0 || layout->block_n <= 0) {
    return is_named(memdesc->encoding, "tensor_memory_scales_encoding")
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
