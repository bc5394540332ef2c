#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "twill/ir/program.h"

/// Meaning of the operands of an op.
namespace twill::ir {

/// The operands of `op` in that role; empty if the op has none there.
std::span<const ValueId> operands_in(const Op& op, Role role);

/// The only operand in that role; nullopt if the op has none or several.
std::optional<ValueId> operand_in(const Op& op, Role role);

/// A tile product D += A B (or D = A B), whichever op carries it out.
struct MmaOperands {
  ValueId a;
  ValueId b;
  ValueId accumulator;  ///< mma, wgmma: the register tile C that is read; tcgen05: memdesc of D
  std::optional<ValueId> result;           ///< mma, wgmma: the register tile D; tcgen05 has none
  std::optional<ValueId> use_accumulator;  ///< i1: false starts from zero; absent means true
  std::optional<ValueId> predicate;        ///< tcgen05, i1: false skips the product
  std::optional<ValueId> token_in;         ///< tcgen05: token of the op on D before
  std::optional<ValueId> token_out;        ///< tcgen05: token of this product
  std::span<const ValueId> barriers;       ///< tcgen05: mbarriers that completion arrives at
  std::span<const ValueId> barrier_predicates;
  std::optional<ValueId> a_scale;  ///< mma_scaled, tcgen05_scaled
  std::optional<ValueId> b_scale;
  bool asynchronous = false;  ///< completion is waited for by another op
  bool two_ctas = false;      ///< tcgen05 over a CTA pair
};

/// The operands of a product; nullopt for other ops.
std::optional<MmaOperands> mma_operands(const Op& op);

/// Reading or writing a tile somewhere in memory.
struct MemoryAccess {
  AccessSpace space = AccessSpace::global;  ///< shared/tensor: `address` is a memdesc
  bool reads = false;                       ///< from that space
  bool writes = false;                      ///< to that space; atomics do both
  ValueId address;                          ///< pointer(s), descriptor or memdesc
  std::span<const ValueId> coordinates;     ///< of a descriptor; with `rows`: the column
  std::optional<ValueId> rows;              ///< of a descriptor: the tile has one row for each
  std::optional<ValueId> mask;              ///< loads, stores, atomics: i1 tile
  std::optional<ValueId> other;             ///< loads: value where the mask is false
  std::optional<ValueId> source;            ///< the tile that is written or reduced
  std::optional<ValueId> result;            ///< the tile that is read
  std::optional<ValueId> destination;       ///< asynchronous copies into shared memory: the memdesc
  std::optional<ValueId> barrier;           ///< TMA copies: the mbarrier that completion arrives at
  std::optional<ValueId> predicate;         ///< i1: false skips the access
  std::optional<ValueId> token_in;
  std::optional<ValueId> token_out;
  bool by_descriptor = false;  ///< TMA
  bool asynchronous = false;   ///< completion is signalled; the op does not wait
};

/// Loads, stores, atomics and copies of tiles in any space. An allocation with an initial value is
/// a write of `source` to the memdesc it returns (`address`). nullopt for other ops.
std::optional<MemoryAccess> memory_access(const Op& op);

/// Name of the function of CUDA's device library that a library_call calls, without its prefix:
/// "tanhf" for "__nv_tanhf". nullopt for other ops and other libraries.
std::optional<std::string_view> device_function(const Op& op);

/// Reductions and scans: sources and results correspond; `combine` is the region's block, whose
/// arguments are accumulators then elements, one each per source.
struct Reduction {
  std::span<const ValueId> sources;
  int axis = 0;
  BlockId combine;
  bool is_scan = false;
  bool reverse = false;  ///< scans only
};
std::optional<Reduction> reduction(const Program& program, OpId op);

}  // namespace twill::ir
