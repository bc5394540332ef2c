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

/// A Program: the tile-level SSA of one module, with every function whole (several loops, nested
/// and persistent ones, conditionals, what happens before and after a loop, source locations).
/// Built once (ProgramBuilder, usually by a reader) and never changed.
///
/// The model is MLIR's generic form: an op has a name, operands, results, attributes, regions and
/// successors. Custom assembly is normalized to it while reading, so `tt.load %p, %m` and its
/// generic spelling give the same op. What operands mean is in `ir/operands.h`, what layouts mean
/// in `ir/encoding.h`, loops are in `ir/loop.h`.
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

struct Op {
  std::string name;             ///< as spelled: "arith.addi", "triton_gpu.local_alloc"
  OpKind kind = OpKind::other;  ///< the same over all spellings Tritons have used; `other`: unknown
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  /// Sorted by name; properties and discardable attributes alike. Use `attribute()` to find one.
  std::vector<NamedAttribute> attributes;
  std::vector<RegionId> regions;
  std::vector<BlockId> successors;  ///< of cf.br and the like; their arguments are operands
  /// Of an op we have no format for, written in custom form: its text between name and types with
  /// % for every operand, such as "%[%], % keyword". Empty if that is just operands with commas,
  /// and for all other ops.
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
  /// The text's name as given to the reader.
  const std::string& file() const { return file_; }

  const Op& op(OpId id) const { return ops_[id.index()]; }
  const Value& value(ValueId id) const { return values_[id.index()]; }
  const Block& block(BlockId id) const { return blocks_[id.index()]; }
  const Region& region(RegionId id) const { return regions_[id.index()]; }

  std::size_t op_count() const { return ops_.size(); }
  std::size_t value_count() const { return values_.size(); }

  /// The builtin.module op that holds everything; a text without one gets one.
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

// --- Attributes -------------------------------------------------------------------------------

/// The attribute `name` of an op; null if it has none.
Attribute attribute(const Op& op, std::string_view name);

/// Its value, if it is there and of that kind.
std::optional<std::int64_t> integer_attribute(const Op& op, std::string_view name);
std::optional<std::string_view> string_attribute(const Op& op, std::string_view name);
/// The elements of an array or dense array of integers; nullopt if absent or of another kind.
std::optional<std::vector<std::int64_t>> integers_attribute(const Op& op, std::string_view name);

/// The integers of an array, dense array or splat attribute; nullopt for other kinds.
std::optional<std::vector<std::int64_t>> integers_of(Attribute attribute);

// --- Structure --------------------------------------------------------------------------------

/// All function ops (tt.func, func.func), in order of the text; declarations have no body.
std::vector<OpId> functions(const Program& program);

/// sym_name of a function; empty if it has none.
std::string_view symbol_name(const Program& program, OpId op);

/// Arguments of a function's entry block; empty for a declaration.
std::span<const ValueId> function_arguments(const Program& program, OpId function);

/// The attribute `name` of function argument `index` ("tt.divisibility"); null if it has none.
Attribute argument_attribute(const Program& program, OpId function, std::size_t index,
                             std::string_view name);

/// The op whose region holds `op`; nullopt for the module.
std::optional<OpId> parent(const Program& program, OpId op);

/// The function, or the closest op of `kind`, around `op` (not `op` itself).
std::optional<OpId> enclosing(const Program& program, OpId op, OpKind kind);

/// True if `inner` is `outer` or lies in one of its regions, at any depth.
bool is_inside(const Program& program, OpId inner, OpId outer);

/// Region `index` of `op` must have one block, as all structured control flow has: that block.
/// nullopt if there is no such region, or it has no or several blocks.
std::optional<BlockId> body(const Program& program, OpId op, std::size_t index = 0);

/// The last op of a block; nullopt if the block is empty.
std::optional<OpId> terminator(const Program& program, BlockId block);

/// `op` and everything in its regions, in the order of the text.
std::vector<OpId> walk(const Program& program, OpId op);

// --- Values -----------------------------------------------------------------------------------

inline Type type_of(const Program& program, ValueId value) { return program.value(value).type; }

/// The op that defines a value; nullptr for block arguments.
const Op* defining_op(const Program& program, ValueId value);

/// What arith.constant gives the value: a scalar attribute, or a `dense` one. Null if the value is
/// no constant.
Attribute constant_of(const Program& program, ValueId value);

/// The integer or boolean a value is known to be: a scalar constant, or the splat of a dense one.
std::optional<std::int64_t> constant_integer(const Program& program, ValueId value);

/// The same as a number; integers included. -inf for dense<0xFF800000> of f32.
std::optional<double> constant_number(const Program& program, ValueId value);

// --- Module -----------------------------------------------------------------------------------

/// "ttg.num-warps" of the module (also under the older "triton_gpu." prefix), and so on.
std::optional<int> num_warps(const Program& program);
std::optional<int> threads_per_warp(const Program& program);
std::optional<int> num_ctas(const Program& program);
/// "cuda:90" gives 90; nullopt if the module names no CUDA target.
std::optional<int> cuda_target(const Program& program);

// --- Where ------------------------------------------------------------------------------------

/// Where the op stands in the text that was read.
Location text_location(const Program& program, OpId op);

/// Where the user's source says it comes from (its loc(...): the innermost file:line:col of names,
/// fused locations and call sites' callees); nullopt if that is unknown.
std::optional<Location> source_location(const Program& program, OpId op);

}  // namespace twill::ir
