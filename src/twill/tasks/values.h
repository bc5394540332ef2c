#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "twill/support/diagnostic.h"
#include "twill/tasks/fragments.h"
#include "twill/tasks/size.h"
#include "twill/tasks/vocabulary.h"

/// Tasks as plain values. The C++ builder (tasks.h) records them, the text form reads and prints
/// them, and all later steps work on them. Two values are equal if their texts mean the same,
/// whatever their places in the source.
namespace twill::tasks {

/// A place in the user's source. All places compare equal.
struct Where {
  Location at;
  friend bool operator==(const Where&, const Where&) { return true; }
};

/// Makes a failed Result: "T05: MESSAGE" at the place.
tl::unexpected<Diagnostic> fail_task(const char* code, const Where& where,
                                     const std::string& message, std::string hint = {});

/// Code of such a failure; empty for other failures.
std::string_view code_of(const Diagnostic& failure);

/// Use of an argument by a task. `writes`: replaces the whole argument, without reading its
/// previous content. `reduces`: adds numbers to the previous content, which is neither read nor
/// replaced. `reduces_max`, `reduces_min`: keep the larger, or the smaller, of a number and the
/// previous content.
enum class Privilege { reads, writes, updates, reduces, reduces_max, reduces_min };
/// Spelling: "reads"; for combining privileges "reduces(+)", "reduces(max)" and "reduces(min)".
std::string_view name_of(Privilege privilege);
/// Function by which a privilege combines: add, max or min; nullopt for other privileges.
std::optional<Function> combines_by(Privilege privilege);
/// Assignment that combines by the function: "+=", "max=" or "min=".
std::string_view assignment_of(Function combines);
inline bool may_read(Privilege privilege) {
  return privilege == Privilege::reads || privilege == Privilege::updates;
}
/// Whether a task with the privilege may change elements.
inline bool may_write(Privilege privilege) { return privilege != Privilege::reads; }
/// Whether a task with the first privilege may give the second to a task that it launches.
bool may_give(Privilege have, Privilege give);

struct Argument {
  std::string name;
  Privilege privilege = Privilege::reads;
  Scalar scalar = Scalar::f16;
  std::vector<Size> shape;  ///< named sizes and constants
  Where where;
  friend bool operator==(const Argument&, const Argument&) = default;
};

/// Kinds of parts of a tensor.
enum class Cut {
  blocks,   ///< adjacent parts
  windows,  ///< parts `step` apart, so that neighbours may share elements
  pick,     ///< the part at an index of a dimension, without that dimension
  mma,      ///< of a product's operand: the share of a warp or thread in a warpgroup
};

/// Content of a block beyond the edge of its tensor. Writes beyond the edge are dropped, except
/// with `exact`.
enum class Edge {
  zero,   ///< zeros: right for sums
  exact,  ///< the block ends at the edge: blocks divide the tensor
  clip,   ///< elements beyond the edge do not exist, so the block is not read
  fill,   ///< a number
};
/// Spelling: "zero", "exact", "clip" or "fill".
std::string_view name_of(Edge edge);
/// An edge with its number.
struct EdgeRule {
  Edge edge = Edge::zero;
  double fill = 0;  ///< number of `fill`
  EdgeRule() = default;
  EdgeRule(Edge of) : edge(of) {}  // NOLINT: rules without a number are written as edges
  friend bool operator==(const EdgeRule&, const EdgeRule&) = default;
};
inline EdgeRule fill(double number) {
  EdgeRule rule(Edge::fill);
  rule.fill = number;
  return rule;
}

/// One part of a tensor. `tile` and `index` have the rank of blocks and windows, as has `step` of
/// windows. A window begins at index times step, perhaps before the first element. Its elements are
/// `every` apart, or adjacent if `every` is empty. A pick has one index. A part by `mma` also has
/// one index; its `tile` is the instruction: rows, columns and depth.
struct Block {
  std::vector<Size> tile;
  EdgeRule edge = {};
  std::vector<Size> index;
  Cut cut = Cut::blocks;
  std::vector<Size> step = {};
  std::size_t picked = 0;  ///< picked dimension
  Fragment fragment = Fragment::c;
  Level level = Level::warp;
  std::vector<Size> every = {};
  friend bool operator==(const Block&, const Block&) = default;
};

/// Distance, in elements of the tensor, between neighbouring elements of the part.
Size every_of(const Block& block, std::size_t dimension);
/// Number of elements of the tensor from the part's first to its last element, inclusive.
Size reach_of(const Block& block, std::size_t dimension);

/// Shape of the part, for a tensor of `shape`. Precondition: `fits_rank`.
std::vector<Size> shape_of(const Block& block, const std::vector<Size>& shape);
/// Whether a tensor with `rank` dimensions can have such parts.
bool fits_rank(const Block& block, std::size_t rank);
/// Replaces the names in `by`.
Block substituted(Block block, const SizeMap& by);
/// Replaces all sizes by numbers. Fails, with the reason, for a size without a value and for a
/// negative tile. Fails for a negative index, except of windows. Fails for windows with a distance
/// of 0 between elements.
tl::expected<Block, NoNumber> with_values(Block block,
                                          const std::map<std::string, std::int64_t>& names);

/// A tensor, or a part of a part of a tensor, to any depth.
struct Piece {
  std::string tensor;  ///< name of an argument or of a temporary tensor
  std::vector<Block> blocks = {};
  Where where;
  friend bool operator==(const Piece&, const Piece&) = default;
};

/// A temporary tensor.
struct Make {
  std::string name;
  Scalar scalar = Scalar::f32;
  std::vector<Size> shape;
  Where where;
  friend bool operator==(const Make&, const Make&) = default;
};

struct Launch {
  std::string task;
  std::vector<Piece> pieces;
  Where where;
  std::vector<Size> positions = {};  ///< for each position of the task's signature
  friend bool operator==(const Launch&, const Launch&) = default;
};

struct Dimension {
  std::string index;
  Size extent;
  friend bool operator==(const Dimension&, const Dimension&) = default;
};

struct Statement;

/// A comparison of sizes.
struct SizeComparison {
  Size left;
  Function how = Function::less;
  Size right;
  friend bool operator==(const SizeComparison&, const SizeComparison&) = default;
};
inline SizeComparison operator<(const Size& a, const Size& b) { return {a, Function::less, b}; }
inline SizeComparison operator<=(const Size& a, const Size& b) {
  return {a, Function::less_equal, b};
}
inline SizeComparison operator>(const Size& a, const Size& b) { return {a, Function::greater, b}; }
inline SizeComparison operator>=(const Size& a, const Size& b) {
  return {a, Function::greater_equal, b};
}
SizeComparison opposite(const SizeComparison& condition);
/// Size that is 1 if the condition holds, else 0.
Size count_of(const SizeComparison& condition);
SizeComparison substituted(const SizeComparison& condition, const SizeMap& by);

/// Runs the body for each index, in order (srange), or in any order and at once (prange). In a
/// prange, no two iterations write the same element, and none reads an element that another writes.
/// Without an index, the body runs once if the condition holds.
struct Range {
  bool parallel = false;
  std::vector<Dimension> dimensions;
  std::vector<Statement> body;
  Where where;
  std::optional<SizeComparison> when = {};
  friend bool operator==(const Range&, const Range&);
};

struct Statement {
  std::variant<Make, Launch, Range> what;
  friend bool operator==(const Statement&, const Statement&) = default;
};

inline bool operator==(const Range& a, const Range& b) {
  return a.parallel == b.parallel && a.dimensions == b.dimensions && a.body == b.body &&
         a.when == b.when;
}

/// Number of launches in statements, including ranges.
std::size_t count_launches(const std::vector<Statement>& body);

/// A variant that partitions and launches, and accesses no elements.
struct Inner {
  std::vector<std::string> tunables;
  std::vector<Statement> body;
  friend bool operator==(const Inner&, const Inner&) = default;
};

/// A function in a leaf; operands are numbers of earlier nodes.
struct Node {
  Function function = Function::constant;
  std::vector<std::size_t> operands;
  std::string argument;         ///< argument: name
  double number = 0;            ///< constant
  Scalar scalar = Scalar::f32;  ///< cast: type of the result
  Where where;
  Size length = {};  ///< iota: a size of the signature
  friend bool operator==(const Node&, const Node&) = default;
};

/// Content of an argument after the leaf. For a reduced argument, the value to be combined with its
/// content.
struct Output {
  std::string argument;
  std::size_t node = 0;
  Where where;
  std::optional<Function> combines = {};  ///< add, max or min
  friend bool operator==(const Output&, const Output&) = default;
};

/// The user's CUDA C++ that computes the same as another leaf, element by element. Its function
/// takes an f32 for each argument that is read, in the order of the task, and returns an f32.
struct External {
  std::string meaning;   ///< variant with the same meaning
  std::string function;  ///< "mine::gelu"
  std::string code;      ///< definition of the function
  Where where = {};
  friend bool operator==(const External&, const External&) = default;
};

/// A variant that computes: expressions over whole tiles, as one graph. Nodes are in the order in
/// which the outputs need them; outputs are in the order of the task's arguments. Equal nodes are
/// merged.
struct Leaf {
  std::vector<Node> nodes;
  std::vector<Output> outputs;
  std::optional<External> external = {};  ///< in addition to the meaning, given by the nodes
  friend bool operator==(const Leaf&, const Leaf&) = default;
};

struct Variant {
  std::string name;
  std::variant<Inner, Leaf> body;
  Where where;
  friend bool operator==(const Variant&, const Variant&) = default;
  bool is_leaf() const { return std::holds_alternative<Leaf>(body); }
};

/// A signature and its variants, the outermost first.
struct TaskValue {
  std::string name;
  std::vector<Argument> arguments;
  std::vector<Variant> variants;
  Where where;
  std::vector<std::string> positions = {};  ///< numbers, after the tensors
  friend bool operator==(const TaskValue&, const TaskValue&) = default;
};

struct Library {
  std::vector<TaskValue> tasks;
  friend bool operator==(const Library&, const Library&) = default;
};

/// Task with that name; nullptr if not found.
const TaskValue* find_task(const Library& library, std::string_view name);
const Variant* find_variant(const TaskValue& task, std::string_view name);
const Argument* find_argument(const TaskValue& task, std::string_view name);
/// Makes a leaf with the meaning of another variant. Fails if that variant is missing (T15).
Result<Leaf> external_leaf(const TaskValue& task, External external);
/// Whether the task has a position of that name.
bool has_position(const TaskValue& task, std::string_view name);

}  // namespace twill::tasks
