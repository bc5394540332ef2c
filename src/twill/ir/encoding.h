#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

/// Meaning of a Program's layouts to later stages, as far as hardware sees it: MMA instruction
/// shapes, operand forms, shared-memory swizzles, tensor-memory blocks. Triton chooses how a tile
/// is spread over threads (blocked, linear, slice, warpsPerCTA of MMA layouts). That choice stays
/// in the attribute, and no stage should base a decision on it. Front ends give a layout its
/// meaning when they make its attribute.
namespace twill::ir {

struct TypeNode;
struct AttributeNode;
using Type = const TypeNode*;            ///< never null unless a field says so
using Attribute = const AttributeNode*;  ///< null where a field says so: "has none"

/// Layout of a tensor core's result in registers: version 3 is wgmma, 2 is mma.sync. instr_shape is
/// {m, n, k} of one instruction.
struct MmaEncoding {
  int version_major = 0;
  int version_minor = 0;
  std::vector<std::int64_t> instr_shape;
  std::vector<std::int64_t> warps_per_cta;
};

/// A register tile laid out as operand A (index 0) or B (1) of the MMA `parent`.
struct DotOperandEncoding {
  int index = 0;
  int k_width = 0;
  Attribute parent = nullptr;
};

/// Layout that TMA writes and wgmma/tcgen05 read.
struct NvmmaSharedEncoding {
  int swizzle_bytes = 0;  ///< 0, 32, 64 or 128
  bool transposed = false;
  int element_bits = 0;
  bool fp4_padded = false;
};

/// Layout that threads write to shared memory.
struct SwizzledSharedEncoding {
  int vec = 1;
  int per_phase = 1;
  int max_phase = 1;
  std::vector<std::int64_t> order;
};

/// Blocks of block_m lanes x block_n elements.
struct TensorMemoryEncoding {
  int block_m = 0;
  int block_n = 0;
  int col_stride = 1;  ///< 32-bit columns per element pair step; "unpacked" of older Tritons
  bool unpacked = false;
};

/// Scales of a product in tensor memory.
struct TensorMemoryScalesEncoding {};

using Encoding =
    std::variant<std::monostate, MmaEncoding, DotOperandEncoding, NvmmaSharedEncoding,
                 SwizzledSharedEncoding, TensorMemoryEncoding, TensorMemoryScalesEncoding>;

// Each function returns nullopt if the attribute is null or of another kind.
std::optional<MmaEncoding> mma_encoding(Attribute encoding);
std::optional<DotOperandEncoding> dot_operand_encoding(Attribute encoding);
std::optional<NvmmaSharedEncoding> nvmma_shared_encoding(Attribute encoding);
std::optional<SwizzledSharedEncoding> swizzled_shared_encoding(Attribute encoding);
std::optional<TensorMemoryEncoding> tensor_memory_encoding(Attribute encoding);

/// Dimension along which neighbours of a memdesc in shared memory are adjacent; nullopt if its
/// layout does not say so.
std::optional<std::size_t> fastest_dimension(Type memdesc);
/// Fastest dimension of a layout with `rank` dimensions.
std::optional<std::size_t> fastest_dimension(Attribute encoding, std::size_t rank);

/// 32-bit columns that a memdesc in tensor memory takes; 0 for other types. Its blocks lie side by
/// side, each block_n elements wide. Two blocks of 64 rows share columns.
std::int64_t tensor_memory_columns(Type memdesc);

/// Lanes that a tile takes of the 128 lanes of its columns: 64 for a single block of 64 rows, else
/// 128. Two tiles of 64 lanes may lie in the same columns, as Triton places them. 0 for types
/// outside of tensor memory.
int tensor_memory_lanes(Type memdesc);

}  // namespace twill::ir
