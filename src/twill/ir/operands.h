#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "twill/ir/program.h"

/// What the operands of an op mean. Ops are stored in MLIR's generic form: one flat operand list
/// in declared order, with `operandSegmentSizes` where several groups are optional. The table in
/// operands.cpp names the groups ("roles") of every op whose operands are not all alike; the
/// functions below read that table, so custom and generic spelling give the same answers.
namespace twill::ir {

/// How many operands a role takes.
enum class Arity { one, optional, variadic };

struct Role {
  std::string_view name;
  Arity arity = Arity::one;
};

/// The roles of an op kind in operand order; empty for kinds without an entry in the table.
std::span<const Role> roles_of(OpKind kind);

/// True if ops of that kind need `operandSegmentSizes`: several of their roles may be absent, each
/// on its own.
bool has_segment_sizes(OpKind kind);

/// How many operands of `op` each of its roles takes: `operandSegmentSizes` if it has that, else
/// what follows from the number of operands. nullopt if that does not fit, as in the generic
/// spelling of a Triton that declares the op with other operands.
std::optional<std::vector<std::size_t>> operand_segments(const Op& op);

/// The operands of `op` in that role. Empty if the op has none there, if its kind has no such role,
/// or if its segment sizes do not fit.
std::span<const ValueId> operands_in(const Op& op, std::string_view role);

/// The one operand in that role; nullopt if there is none (or several).
std::optional<ValueId> operand_in(const Op& op, std::string_view role);

/// A tile product D += A B (or D = A B), whichever op carries it out.
struct MmaOperands {
  ValueId a;
  ValueId b;
  ValueId accumulator;  ///< wgmma, tt.dot: the register tile C that is read; tcgen05: memdesc of D
  std::optional<ValueId> result;           ///< wgmma, tt.dot: the register tile D; tcgen05 has none
  std::optional<ValueId> use_accumulator;  ///< i1: false starts from zero; absent means true
  std::optional<ValueId> predicate;        ///< tcgen05, i1: false skips the product
  std::optional<ValueId> token_in;         ///< tcgen05: what was done to D before
  std::optional<ValueId> token_out;        ///< tcgen05: this product done to D
  std::span<const ValueId> barriers;       ///< tcgen05: mbarriers that completion arrives at
  std::span<const ValueId> barrier_predicates;
  std::optional<ValueId> a_scale;  ///< tt.dot_scaled, tc_gen5_mma_scaled
  std::optional<ValueId> b_scale;
  bool asynchronous = false;  ///< `is_async` / `isAsync` is set
  bool two_ctas = false;      ///< tcgen05 over a CTA pair
};

/// nullopt unless `op` is ttng.warp_group_dot, ttng.tc_gen5_mma(_scaled), tt.dot or tt.dot_scaled.
std::optional<MmaOperands> mma_operands(const Op& op);

/// Reading or writing a tile somewhere in memory.
enum class AccessSpace { global, shared, tensor };

struct MemoryAccess {
  AccessSpace space = AccessSpace::global;  ///< shared/tensor: `address` is a memdesc
  bool reads = false;                       ///< from that space
  bool writes = false;                      ///< to that space; atomics do both
  ValueId address;                          ///< pointer(s), descriptor or memdesc
  std::span<const ValueId> coordinates;     ///< of a descriptor
  std::optional<ValueId> mask;              ///< tt.load, tt.store, atomics: i1 tile
  std::optional<ValueId> other;             ///< tt.load: value where the mask is false
  std::optional<ValueId> source;            ///< the tile that is written or reduced
  std::optional<ValueId> result;            ///< the tile that is read
  std::optional<ValueId> destination;       ///< asynchronous copies into shared memory: the memdesc
  std::optional<ValueId> barrier;           ///< TMA copies: the mbarrier that completion arrives at
  std::optional<ValueId> predicate;         ///< i1: false skips it
  std::optional<ValueId> token_in;
  std::optional<ValueId> token_out;
  bool by_descriptor = false;  ///< TMA
  bool asynchronous = false;   ///< completion is signalled, not waited for
};

/// Loads, stores, atomics and copies of tiles in any space. nullopt for other ops; allocations with
/// an initial value (ttg.local_alloc %x, ttng.tmem_alloc %x) count as a write of `source` to the
/// memdesc they return (`address`).
std::optional<MemoryAccess> memory_access(const Op& op);

/// Whether a tt.make_tensor_descriptor says that what is outside of its tensor reads as NaN:
/// Triton's PAD_NAN. Else, and where it says nothing, it reads as zero.
bool pads_with_nan(const Op& op);

/// The function of CUDA's device library that tt.extern_elementwise calls, without its prefix:
/// "tanhf" of "__nv_tanhf". nullopt for other ops, and other libraries.
std::optional<std::string_view> device_function(const Op& op);

/// tt.reduce and tt.scan: sources and results correspond; `combine` is the region's block, whose
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
