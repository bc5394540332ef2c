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
/// lower to tile operations. The op's name and attributes are from the text, for messages and for
/// printing. See `ir/operands.h` for operands, `ir/encoding.h` for layouts, `ir/loop.h` for loops.
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
  std::string name;  ///< as printed, without %: "24", "arg3", "result_3"; "10#1" for one of many
  Type type = nullptr;
  std::optional<OpId> op;  ///< the op that defines the value as a result, or
  std::optional<BlockId>
      block;              ///< the block that has the value as an argument; exactly one is set
  std::size_t index = 0;  ///< number of the result or argument
  Attribute location =
      nullptr;            ///< of a block argument: loc(...) with the name in the source; or null
  std::vector<Use> uses;  ///< in order of the text; one entry for each use, also within one op
};

/// Meaning of an operand to its op.
enum class Role : unsigned char {
  address,      ///< of a memory access: pointers, a descriptor, or a buffer
  coordinates,  ///< of a block access
  rows,         ///< rows of a gather or scatter: a tile of row numbers
  mask,         ///< i1: elements that are accessed
  fill,         ///< value of a load's masked elements
  source,       ///< the tile that is stored, or the buffer that is viewed
  expected,     ///< atomic comparison: the old value required for the store
  destination,  ///< copy into shared memory: the buffer
  barrier,      ///< mbarrier for completion, or the operand of a barrier op
  phase,        ///< wait: parity of the phase to wait for
  predicate,    ///< i1: false skips the op
  token,        ///< orders the op after the token's op
  a,            ///< first operand of a product; b and the accumulator follow
  b,
  accumulator,
  use_accumulator,  ///< i1: false starts from zero
  barriers,
  barrier_predicates,
  a_scale,
  b_scale,
  base,  ///< of a descriptor: a pointer; extents and strides describe the whole tensor
  extents,
  strides,
  taken,      ///< of a conditional jump: values for the block if the condition holds
  otherwise,  ///< values for the block if the condition does not hold
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
  bool returns_token = false;  ///< the first result is a token; if false, the second may be one
};

/// Facts about the elements of a result: divisors per dimension (or one for all), and the number of
/// neighbours that are consecutive or equal.
struct Hints {
  std::vector<std::int64_t> divisors, consecutive, equal;
};

/// Launch that a module was compiled for.
struct LaunchTraits {
  std::optional<int> num_ctas;
  std::optional<int> cuda_target;  ///< 90 of "cuda:90"
};

/// Meaning of an op, in addition to its operands, results and regions. The comment of a field names
/// the kinds of ops that use it.
struct Traits {
  OpKind kind = OpKind::other;
  std::vector<RoleOperands> roles;     ///< of ops whose operands have different roles
  std::optional<AccessTraits> access;  ///< of ops that access memory
  /// reduce, scan; expand_dims: the new dimension; program_id, program_count: 0 to 2.
  std::optional<std::int64_t> axis;
  /// transpose, buffer_transpose: for each dimension of the result, the dimension of the operand.
  std::optional<std::vector<std::int64_t>> order;
  std::optional<std::vector<std::int64_t>>
      offsets;                   ///< buffer_slice; tensor_slice: in its last dimension
  std::int64_t start = 0;        ///< range: its first number
  Attribute constant = nullptr;  ///< constant: a scalar, or `dense`
  /// icmp: eq ne slt sle sgt sge ult ule ugt uge, from 0; fcmp: false oeq ogt oge olt ole one ord
  /// ueq ugt uge ult ule une uno true.
  std::optional<std::int64_t> predicate;
  Update update = Update::other;  ///< atomic_update, block_update(_async)
  /// function: its name. library_call: function of CUDA's device library ("tanhf"), empty for other
  /// libraries. inline_asm: its PTX, which computes `count` elements at a time.
  std::string_view symbol;
  std::optional<std::int64_t> exact_every;  ///< wgmma of 8 bits: columns between exact additions
  std::optional<std::int64_t> stages;       ///< loops: how deep the text asks to pipeline them
  /// barrier_init: arrivals that complete a phase. barrier_arrive: arrivals. barrier_expect: bytes.
  /// wgmma_wait, copy_wait, block_store_wait: groups of work that may still be in flight.
  std::optional<std::int64_t> count;
  std::vector<std::int64_t> warps;  ///< warp_roles: number of warps of each partition
  Hints hints;                      ///< of the first result
  std::vector<std::optional<std::int64_t>> argument_divisors;  ///< function
  LaunchTraits launch;                                         ///< module
  bool reverse = false;                                        ///< scan
  bool asynchronous = false;                                   ///< products
  bool two_ctas = false;                                       ///< tcgen05: over a CTA pair
  bool pads_with_nan = false;  ///< make_descriptor: elements outside read as NaN, not as zero
  bool reorders = false;       ///< reshape: elements may be in any order
  bool is_pure = false;        ///< library_call, inline_asm
  bool is_volatile = false;    ///< load, block_load
  bool fixed_results = false;  ///< loops: remarks number their results, so all results stay
  bool publishes = false;      ///< atomic_update: releases; observers of it see earlier writes
  bool is_counted =
      false;  ///< copy_arrive: its arrivals count toward the barrier's expected arrivals
};

struct Op : Traits {
  std::string name;  ///< as spelled in the text, for messages
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  /// Attributes sorted by name, as the text has them: kept for printing.
  std::vector<NamedAttribute> attributes;
  std::vector<RegionId> regions;
  std::vector<BlockId> successors;  ///< of jumps; their arguments are operands
  /// Custom form of an op without a known format: its text between name and types. Every operand
  /// is a %, as in "%[%], % keyword". Empty for operands with commas, and for all other ops.
  std::string form;
  BlockId block;                 ///< block that holds the op (for the module op: meaningless)
  Attribute location = nullptr;  ///< loc(...) of the op, or null; see `source_location`
  int line = 0;                  ///< line of its name in the text, from 1
  int column = 0;
};

struct Block {
  std::string label;  ///< "bb0" as printed, or empty
  std::vector<ValueId> arguments;
  std::vector<OpId> ops;
  RegionId region;
};

struct Region {
  OpId op;  ///< op that holds the region
  std::vector<BlockId> blocks;
};

class ProgramBuilder;

class Program {
 public:
  // Defined in the source file to be compiled once.
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

  /// The module op that holds all other ops. The reader adds one to a text without it.
  OpId module() const { return OpId(0); }

  /// `#name = ...` and `!name = ...` as in the text, in its order: printing uses these aliases.
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
/// if the region does not exist, or has no block or several blocks.
std::optional<BlockId> body(const Program& program, OpId op, std::size_t index = 0);

/// The last op of a block; nullopt if the block is empty.
std::optional<OpId> terminator(const Program& program, BlockId block);

/// `op` and everything in its regions, in the order of the text.
std::vector<OpId> walk(const Program& program, OpId op);

// --- Values -----------------------------------------------------------------------------------

inline Type type_of(const Program& program, ValueId value) { return program.value(value).type; }

/// The op that defines a value; nullptr for block arguments.
const Op* defining_op(const Program& program, ValueId value);

/// Attribute of a constant value: a scalar, or a `dense` attribute. Null if the value is no
/// constant.
Attribute constant_of(const Program& program, ValueId value);

/// Integer or boolean of a constant value: a scalar constant, or the splat of a dense constant.
std::optional<std::int64_t> constant_integer(const Program& program, ValueId value);

/// Number of a constant value, integers included. -inf for dense<0xFF800000> of f32.
std::optional<double> constant_number(const Program& program, ValueId value);

// --- Module -----------------------------------------------------------------------------------

/// Target and launch of the module; fields are unset where the text does not say.
inline const LaunchTraits& launch_traits(const Program& program) {
  return program.op(program.module()).launch;
}

// --- Where ------------------------------------------------------------------------------------

/// The op's place in the text that was read, or by its loc() in the file from which that text was
/// made.
Location text_location(const Program& program, OpId op);

/// The op's place in the user's source, from its loc(...). Fused locations and calls have several
/// places: the innermost place in the kernel's file is taken, since libraries are not written by
/// its author. Without a place in that file, the outermost place. nullopt if unknown.
std::optional<Location> source_location(const Program& program, OpId op);

}  // namespace twill::ir
