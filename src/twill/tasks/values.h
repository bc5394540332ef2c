#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "twill/support/diagnostic.h"
#include "twill/tasks/size.h"
#include "twill/tasks/vocabulary.h"

/// Tasks as plain values: what the C++ builder (tasks.h) traces, the text form reads and prints,
/// and everything behind them takes. Two values are equal if they mean the same text; where they
/// were written is no part of that.
namespace twill::tasks {

/// A place in the user's source. All places are equal.
struct Where {
  Location at;
  friend bool operator==(const Where&, const Where&) { return true; }
};

/// Use that a task makes of an argument. `writes`: all of it is new, and what was there is not
/// read.
enum class Privilege { reads, writes, updates };
std::string_view name_of(Privilege privilege);
inline bool may_read(Privilege privilege) { return privilege != Privilege::writes; }
inline bool may_write(Privilege privilege) { return privilege != Privilege::reads; }

struct Argument {
  std::string name;
  Privilege privilege = Privilege::reads;
  Scalar scalar = Scalar::f16;
  std::vector<Size> shape;  ///< named sizes and constants
  Where where;
  friend bool operator==(const Argument&, const Argument&) = default;
};

/// Content of a block beyond the edge of its tensor. Writes beyond it are dropped, but for `exact`.
enum class Edge {
  zero,   ///< zeros: right for sums
  exact,  ///< nothing is beyond: blocks divide the tensor
};

/// One block of a tensor that is tiled: `tile` and `index` have its rank.
struct Block {
  std::vector<Size> tile;
  Edge edge = Edge::zero;
  std::vector<Size> index;
  friend bool operator==(const Block&, const Block&) = default;
};

/// A tensor, or a block of it, or a block of that, and so on.
struct Piece {
  std::string tensor;  ///< an argument's or a made tensor's name
  std::vector<Block> blocks;
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
  friend bool operator==(const Launch&, const Launch&) = default;
};

struct Dimension {
  std::string index;
  Size extent;
  friend bool operator==(const Dimension&, const Dimension&) = default;
};

struct Statement;

/// The body for each index, in order (srange), or in any order and at once (prange): then no two
/// iterations may write the same element, or one read what another writes.
struct Range {
  bool parallel = false;
  std::vector<Dimension> dimensions;
  std::vector<Statement> body;
  Where where;
  friend bool operator==(const Range&, const Range&);
};

struct Statement {
  std::variant<Make, Launch, Range> what;
  friend bool operator==(const Statement&, const Statement&) = default;
};

inline bool operator==(const Range& a, const Range& b) {
  return a.parallel == b.parallel && a.dimensions == b.dimensions && a.body == b.body;
}

/// A variant that partitions and launches, and touches no element.
struct Inner {
  std::vector<std::string> tunables;
  std::vector<Statement> body;
  friend bool operator==(const Inner&, const Inner&) = default;
};

/// One function of a leaf: operands are numbers of nodes before it.
struct Node {
  Function function = Function::constant;
  std::vector<std::size_t> operands;
  std::string argument;         ///< argument: its name
  double number = 0;            ///< constant
  Scalar scalar = Scalar::f32;  ///< cast: the result's type
  Where where;
  friend bool operator==(const Node&, const Node&) = default;
};

/// Content of an argument when the leaf is done.
struct Output {
  std::string argument;
  std::size_t node = 0;
  Where where;
  friend bool operator==(const Output&, const Output&) = default;
};

/// A variant that computes: expressions over whole tiles, as one graph. Nodes are in the order in
/// which the outputs, in the order of the task's arguments, need them; equal nodes are one.
struct Leaf {
  std::vector<Node> nodes;
  std::vector<Output> outputs;
  friend bool operator==(const Leaf&, const Leaf&) = default;
};

struct Variant {
  std::string name;
  std::variant<Inner, Leaf> body;
  Where where;
  friend bool operator==(const Variant&, const Variant&) = default;
  bool is_leaf() const { return std::holds_alternative<Leaf>(body); }
};

/// A signature and the ways to carry it out, the outermost first.
struct TaskValue {
  std::string name;
  std::vector<Argument> arguments;
  std::vector<Variant> variants;
  Where where;
  friend bool operator==(const TaskValue&, const TaskValue&) = default;
};

struct Library {
  std::vector<TaskValue> tasks;
  friend bool operator==(const Library&, const Library&) = default;
};

/// nullptr if there is none of that name.
const TaskValue* find_task(const Library& library, std::string_view name);
const Variant* find_variant(const TaskValue& task, std::string_view name);
const Argument* find_argument(const TaskValue& task, std::string_view name);

/// A failed Result: "T05: MESSAGE" at the place.
tl::unexpected<Diagnostic> fail_task(const char* code, const Where& where,
                                     const std::string& message, std::string hint = {});

}  // namespace twill::tasks
