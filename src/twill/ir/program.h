#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "twill/ir/op_kind.h"
#include "twill/ir/type.h"
#include "twill/support/diagnostic.h"
#include "twill/support/id.h"

/// A Program: the tile-level SSA of one module, with every function whole: all loops, conditionals,
/// ops before and after a loop, and source locations. Built once (ProgramBuilder, usually by a
/// reader) and never changed.
///
/// An op is a tile operation (`Traits`) with operands, results, regions and successors. Front ends
/// lower to it; the op's name and attributes are those of the text, for messages and for printing
/// the text again. What operands mean is in `ir/operands.h`, what layouts mean in `ir/encoding.h`,
/// loops are in `ir/loop.h`.
namespace twill::ir {

struct OpTag;
struct ValueTag;
struct BlockTag;
struct RegionTag;
using OpId = Id<OpTag>;        ///< ops are numbered in the order of the text (pre-order)
using ValueId = Id<ValueTag>;  ///< in order of definition
using BlockId = Id<BlockTag>;
using RegionId = Id<RegionTag>;

/// Operand number `operand` of `op` reads the value.
struct Use {
  OpId op;
  std::size_t operand = 0;
};

struct Value {
  std::string name;  ///< as printed, without %: "24", "arg3", "result_3"; "10#1" of many
  Type type = nullptr;
  std::optional<OpId> op;        ///< the op it is a result of, or
  std::optional<BlockId> block;  ///< the block it is an argument of; exactly one is set
  std::size_t index = 0;         ///< which result or argument
  Attribute location =
      nullptr;            ///< of a block argument: loc(...) with the name in the source; or null
  std::vector<Use> uses;  ///< in order of the text; an op using it twice appears twice
};

/// Meaning of an operand to its op.
enum class Role : unsigned char {
  address,      ///< of a memory access: pointers, a descriptor, or a buffer
  coordinates,  ///< of a block access
  rows,         ///< of a gather or a scatter: a tile with the number of each
  mask,         ///< i1: elements that are accessed
  fill,         ///< value of a load's masked elements
  source,       ///< the tile that is stored, or the buffer that is viewed
  expected,     ///< of an atomic comparison: the old value for which it stores
  destination,  ///< of a copy into shared memory: the buffer
  barrier,      ///< that completion arrives at, or that the op is about
  phase,        ///< of a wait: the parity of the phase that is waited for
  predicate,    ///< i1: false skips the op
  token,        ///< orders the op after the token's op
  a,            ///< of a product, and so on
  b,
  accumulator,
  use_accumulator,  ///< i1: false starts from zero
  barriers,
  barrier_predicates,
  a_scale,
  b_scale,
  base,  ///< of a descriptor: a pointer, and of the whole tensor extents and strides
  extents,
  strides,
  taken,      ///< of a conditional jump: values for the block if the condition holds
  otherwise,  ///< and if it does not
};

/// Operands of one role: `count` of an op's operands, from `first` on.
struct RoleOperands {
  Role role;
  std::size_t first = 0;
  std::size_t count = 0;
};

enum class AccessSpace { global, shared, tensor };

/// How an op accesses memory.
struct AccessTraits {
  AccessSpace space = AccessSpace::global;
  bool reads = false;   ///< from that space
  bool writes = false;  ///< to that space; updates do both
  bool by_descriptor = false;
  bool asynchronous = false;   ///< completion is signalled, not waited for
  bool allocates = false;      ///< writes its source into the buffer that it returns
  bool returns_tile = false;   ///< the first result is the tile that was read
  bool returns_token = false;  ///< the first result is a token; else the second may be one
};

/// Facts about the elements of a result: divisors per dimension (or one for all), and how many
/// neighbours are consecutive or equal.
struct Hints {
  std::vector<std::int64_t> divisors, consecutive, equal;
};

/// Launch that a module was compiled for.
struct LaunchTraits {
  std::optional<int> num_ctas;
  std::optional<int> cuda_target;  ///< 90 of "cuda:90"
};

/// Meaning of an op, beside its operands, results and regions. A field applies to the kinds that it
/// names.
struct Traits {
  OpKind kind = OpKind::other;
  std::vector<RoleOperands> roles;     ///< of ops whose operands are not all alike
  std::optional<AccessTraits> access;  ///< of ops that access memory
  /// reduce, scan; expand_dims: the new dimension; program_id, program_count: 0 to 2.
  std::optional<std::int64_t> axis;
  /// transpose, buffer_transpose: for each dimension of the result that of the operand.
  std::optional<std::vector<std::int64_t>> order;
  std::optional<std::vector<std::int64_t>> offsets;  ///< buffer_slice; tensor_slice: of the last
  std::int64_t start = 0;                            ///< range: its first number
  Attribute constant = nullptr;                      ///< constant: a scalar, or `dense`
  /// icmp: eq ne slt sle sgt sge ult ule ugt uge, from 0; fcmp: false oeq ogt oge olt ole one ord
  /// ueq ugt uge ult ule une uno true.
  std::optional<std::int64_t> predicate;
  Update update = Update::other;  ///< atomic_update, block_update(_async)
  /// function: its name. library_call: the function of CUDA's device library ("tanhf"), empty for
  /// other libraries. inline_asm: its PTX, which computes `count` elements at a time.
  std::string_view symbol;
  std::optional<std::int64_t> exact_every;  ///< wgmma of 8 bits: columns between exact additions
  std::optional<std::int64_t> stages;       ///< loops: how deep the text asks to pipeline them
  /// barrier_init: arrivals that complete a phase. barrier_arrive: arrivals. barrier_expect: bytes.
  /// wgmma_wait, copy_wait, block_store_wait: groups of work that may still be in flight.
  std::optional<std::int64_t> count;
  std::vector<std::int64_t> warps;                             ///< warp_roles: of each partition
  Hints hints;                                                 ///< of the first result
  std::vector<std::optional<std::int64_t>> argument_divisors;  ///< function
  LaunchTraits launch;                                         ///< module
  bool reverse = false;                                        ///< scan
  bool asynchronous = false;                                   ///< products
  bool two_ctas = false;                                       ///< tcgen05: over a CTA pair
  bool pads_with_nan = false;  ///< make_descriptor: elements outside read as NaN, not as zero
  bool reorders = false;       ///< reshape: elements may come in any order
  bool is_pure = false;        ///< library_call, inline_asm
  bool is_volatile = false;    ///< load, block_load
  bool fixed_results = false;  ///< loops: remarks number their results, so none may be left out
  bool publishes = false;      ///< atomic_update: releases; observers of it see earlier writes
  bool is_counted = false;     ///< copy_arrive: its arrivals are among those the barrier counts
};

struct Op : Traits {
  std::string name;  ///< as spelled in the text, for messages
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  /// Sorted by name, as the text has them: for printing it again.
  std::vector<NamedAttribute> attributes;
  std::vector<RegionId> regions;
  std::vector<BlockId> successors;  ///< of jumps; their arguments are operands
  /// Custom form of an op without a known format: its text between name and types. Every operand
  /// is a %, as in "%[%], % keyword". Empty for operands with commas, and for all other ops.
  std::string form;
  BlockId block;                 ///< it stands in (the module op itself: meaningless)
  Attribute location = nullptr;  ///< its loc(...), or null; see `source_location`
  int line = 0;                  ///< of its name in the text that was read, from 1
  int column = 0;
};

struct Block {
  std::string label;  ///< "bb0" as printed, or empty
  std::vector<ValueId> arguments;
  std::vector<OpId> ops;
  RegionId region;
};

struct Region {
  OpId op;  ///< that holds it
  std::vector<BlockId> blocks;
};

class ProgramBuilder;

class Program {
 public:
  // Defined in the source file, so that they are compiled once.
  Program();
  Program(const Program&);
  Program(Program&&) noexcept;
  Program& operator=(const Program&);
  Program& operator=(Program&&) noexcept;
  ~Program();

  /// The text's name as given to the reader.
  const std::string& file() const { return file_; }

  const Op& op(OpId id) const { return ops_[id.index()]; }
  const Value& value(ValueId id) const { return values_[id.index()]; }
  const Block& block(BlockId id) const { return blocks_[id.index()]; }
  const Region& region(RegionId id) const { return regions_[id.index()]; }

  std::size_t op_count() const { return ops_.size(); }
  std::size_t value_count() const { return values_.size(); }

  /// The module op that holds everything; a text without one gets one.
  OpId module() const { return OpId(0); }

  /// `#name = ...` and `!name = ...` as the text had them, in its order: printing uses them again.
  const std::vector<NamedAttribute>& attribute_aliases() const { return attribute_aliases_; }
  const std::vector<std::pair<std::string, Type>>& type_aliases() const { return type_aliases_; }

 private:
  friend class ProgramBuilder;
  std::string file_;
  std::shared_ptr<TypeTable> types_;
  std::vector<Op> ops_;
  std::vector<Value> values_;
  std::vector<Block> blocks_;
  std::vector<Region> regions_;
  std::vector<NamedAttribute> attribute_aliases_;
  std::vector<std::pair<std::string, Type>> type_aliases_;
};

// --- Structure --------------------------------------------------------------------------------

/// All functions, in order of the text; declarations have no body.
std::vector<OpId> functions(const Program& program);

/// The name of a function; empty if it has none.
std::string_view symbol_name(const Program& program, OpId op);

/// Arguments of a function's entry block; empty for a declaration.
std::span<const ValueId> function_arguments(const Program& program, OpId function);

/// Divisor that the text promises of an argument of a function; nullopt if it promises none.
std::optional<std::int64_t> argument_divisor(const Program& program, OpId function,
                                             std::size_t index);

/// The op whose region holds `op`; nullopt for the module.
std::optional<OpId> parent(const Program& program, OpId op);

/// The function, or the closest op of `kind`, around `op` (not `op` itself).
std::optional<OpId> enclosing(const Program& program, OpId op, OpKind kind);

/// True if `inner` is `outer` or lies in one of its regions, at any depth.
bool is_inside(const Program& program, OpId inner, OpId outer);

/// The block of region `index` of `op`. All structured control flow has one block a region. nullopt
/// if there is no such region, or it has no or several blocks.
std::optional<BlockId> body(const Program& program, OpId op, std::size_t index = 0);

/// The last op of a block; nullopt if the block is empty.
std::optional<OpId> terminator(const Program& program, BlockId block);

/// `op` and everything in its regions, in the order of the text.
std::vector<OpId> walk(const Program& program, OpId op);

// --- Values -----------------------------------------------------------------------------------

inline Type type_of(const Program& program, ValueId value) { return program.value(value).type; }

/// The op that defines a value; nullptr for block arguments.
const Op* defining_op(const Program& program, ValueId value);

/// Attribute of a constant value: a scalar, or a `dense` one. Null if the value is no
/// constant.
Attribute constant_of(const Program& program, ValueId value);

/// The integer or boolean a value is known to be: a scalar constant, or the splat of a dense one.
std::optional<std::int64_t> constant_integer(const Program& program, ValueId value);

/// The number that a value is known to be; integers included. -inf for dense<0xFF800000> of f32.
std::optional<double> constant_number(const Program& program, ValueId value);

// --- Module -----------------------------------------------------------------------------------

/// Target and launch that the module was compiled for; all unknown if the text does not say.
inline const LaunchTraits& launch_traits(const Program& program) {
  return program.op(program.module()).launch;
}

// --- Where ------------------------------------------------------------------------------------

/// The op's place in the text that was read, or by its loc() in the file this was made of.
Location text_location(const Program& program, OpId op);

/// The op's place in the user's source, from its loc(...). Among several places, as of fused
/// locations and calls, the innermost in the file of the kernel: libraries are not its author's.
/// Without one there, the outermost. nullopt if unknown.
std::optional<Location> source_location(const Program& program, OpId op);

}  // namespace twill::ir
