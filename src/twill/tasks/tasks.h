#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "twill/tasks/leaf.h"
#include "twill/tasks/map.h"
#include "twill/tasks/site.h"
#include "twill/tasks/split.h"
#include "twill/tasks/text.h"

/// Tasks written in C++. Inner variants and leaves are lambdas that run once, with names in place
/// of sizes. Calls in them are recorded as plain values (values.h), which the text form reads, too.
/// `library_of` reports all errors, with the user's file and line.
///
///     using namespace twill::tasks::cpp;
///     Task gemm("gemm", {writes("C", f16, {"M", "N"}), reads("A", f16, {"M", "K"}),
///                        reads("B", f16, {"K", "N"})});
///     gemm.inner("host", [&](Inner& t, Tensor C, Tensor A, Tensor B) {
///       const Size U = t.tunable("U"), V = t.tunable("V"), K = A.extent(1);
///       const Partition Cp = blocks(C, {U, V}), Ap = blocks(A, {U, K}), Bp = blocks(B, {K, V});
///       t.prange({cdiv(C.extent(0), U), cdiv(C.extent(1), V)},
///                [&](Size i, Size j) { t.launch(gemm, Cp(i, j), Ap(i, 0), Bp(0, j)); });
///     });
namespace twill::tasks::cpp {

using tasks::cdiv;
using tasks::Edge;
using tasks::EdgeRule;
using tasks::fill;
using tasks::Fragment;
using tasks::Level;
using tasks::Memory;
using tasks::Processor;
using tasks::Size;
using tasks::Split;
inline constexpr Scalar f16 = Scalar::f16;
inline constexpr Scalar bf16 = Scalar::bf16;
inline constexpr Scalar f32 = Scalar::f32;
inline constexpr Scalar f8e4m3 = Scalar::f8e4m3;
inline constexpr Scalar f8e5m2 = Scalar::f8e5m2;
inline constexpr Scalar i8 = Scalar::i8;
inline constexpr Scalar i32 = Scalar::i32;

// --- Signatures ---------------------------------------------------------------------------------

Argument reads(std::string name, Scalar scalar, std::vector<Size> shape,
               Site site = Site::current());
Argument writes(std::string name, Scalar scalar, std::vector<Size> shape,
                Site site = Site::current());
Argument updates(std::string name, Scalar scalar, std::vector<Size> shape,
                 Site site = Site::current());
/// An argument to which numbers are added: `C += x` of a leaf.
Argument reduces(std::string name, Scalar scalar, std::vector<Size> shape,
                 Site site = Site::current());
/// An argument that keeps the larger, or the smaller, of a number and the previous content:
/// `raise(C, x)` and `lower(C, x)` of a leaf.
Argument reduces_max(std::string name, Scalar scalar, std::vector<Size> shape,
                     Site site = Site::current());
Argument reduces_min(std::string name, Scalar scalar, std::vector<Size> shape,
                     Site site = Site::current());

// --- Tensors ------------------------------------------------------------------------------------

/// A tensor, or a part of a tensor.
class Tensor {
 public:
  Tensor(Piece piece, std::vector<Size> shape)
      : piece_(std::move(piece)), shape_(std::move(shape)) {}
  /// Extent of a dimension; 0 for a dimension that does not exist.
  Size extent(std::size_t dimension) const;
  std::size_t rank() const { return shape_.size(); }
  const Piece& piece() const { return piece_; }
  const std::vector<Size>& shape() const { return shape_; }

 private:
  Piece piece_;
  std::vector<Size> shape_;
};

/// A tensor cut into blocks or windows. A call gives the part at an index.
class Partition {
 public:
  /// `part`: block without its index.
  Partition(Tensor of, Block part, Where where)
      : of_(std::move(of)), part_(std::move(part)), where_(std::move(where)) {}

  template <class... Index>
  Tensor operator()(Index... index) const {
    return at({Size(index)...});
  }
  Tensor at(std::vector<Size> index) const;

 private:
  Tensor of_;
  Block part_;
  Where where_;
};

Partition blocks(const Tensor& tensor, std::vector<Size> tile, EdgeRule edge = Edge::zero,
                 Site site = Site::current());
/// Windows that begin `step` apart, so that neighbours may share elements.
Partition windows(const Tensor& tensor, std::vector<Size> tile, std::vector<Size> step,
                  EdgeRule edge = Edge::zero, Site site = Site::current());
/// Windows of elements that are `every` apart.
Partition windows(const Tensor& tensor, std::vector<Size> tile, std::vector<Size> step,
                  std::vector<Size> every, EdgeRule edge = Edge::zero, Site site = Site::current());
/// Parts of a product's operand for the warps of a warpgroup (4), or the threads of a warp (32).
/// `instruction`: rows, columns, depth.
Partition mma(const Tensor& tensor, Fragment operand, Level level, std::vector<Size> instruction,
              Site site = Site::current());
/// Window of `extent` elements from `first` on, with step 1.
Tensor slice(const Tensor& tensor, std::vector<Size> first, std::vector<Size> extent,
             EdgeRule edge = Edge::zero, Site site = Site::current());
/// Part at one index of a dimension, without that dimension.
Tensor pick(const Tensor& tensor, Size index, std::size_t dimension = 0,
            Site site = Site::current());

// --- Inner variants -----------------------------------------------------------------------------

class Task;

/// A task with the place of its launch.
struct Launched {
  Launched(const Task& task, Site site = Site::current());  // NOLINT: written as the task alone
  std::string task;
  Where where;
};

/// Conditions of `when`, beside those by < <= > and >=.
SizeComparison equal(const Size& a, const Size& b);
SizeComparison unequal(const Size& a, const Size& b);

/// Interface of an inner variant.
class Inner {
 public:
  /// `names`: sizes and positions of the task, which no index may have as its name.
  explicit Inner(std::set<std::string> names) : names_(std::move(names)) {}
  /// Adds a tunable. Tunables are added before ranges, whose indices get other names.
  Size tunable(std::string name);
  /// Makes a temporary tensor; without a name, a name is chosen.
  Tensor tensor(Scalar scalar, std::vector<Size> shape, std::string name = {},
                Site site = Site::current());
  /// Launches a task: tensors first, then positions, as in the task's signature.
  template <class... Given>
  void launch(Launched what, const Given&... given) {
    std::vector<Piece> pieces;
    std::vector<Size> positions;
    (add_given(given, pieces, positions), ...);
    add_launch(std::move(what), std::move(pieces), std::move(positions));
  }
  /// Runs iterations in any order and at once. `body` takes as many indices as extents.
  template <class Body>
  void prange(std::vector<Size> extents, Body body, Site site = Site::current()) {
    range(true, std::move(extents), body, site);
  }
  /// Runs iterations in order.
  template <class Body>
  void srange(std::vector<Size> extents, Body body, Site site = Site::current()) {
    range(false, std::move(extents), body, site);
  }
  template <class Body>
  void srange(Size extent, Body body, Site site = Site::current()) {
    range(false, {std::move(extent)}, body, site);
  }

  /// Runs the body, a lambda without parameters, if the condition holds: `t.when(i < 4, [&] { ...
  /// })`.
  template <class Body>
  void when(const SizeComparison& condition, Body body, Site site = Site::current()) {
    arm(condition, body, site);
  }
  /// As above, and runs `otherwise` if the condition does not hold.
  template <class Body, class Otherwise>
  void when(const SizeComparison& condition, Body body, Otherwise otherwise,
            Site site = Site::current()) {
    arm(condition, body, site);
    arm(opposite(condition), otherwise, site);
  }

  tasks::Inner take() && { return std::move(inner_); }
  /// The first fault of a statement, if any.
  const std::optional<Diagnostic>& error() const { return error_; }

 private:
  template <class Body>
  void range(bool parallel, std::vector<Size> extents, Body& body, const Site& site);
  /// False, with a recorded error, if a range's lambda takes another number of indices than the
  /// range has.
  bool takes(std::size_t parameters, std::size_t indices, const Site& site);
  template <class Body>
  void arm(SizeComparison condition, Body& body, const Site& site) {
    open_range(false, {}, site);
    open_.back().when = std::move(condition);
    body();
    close_range();
  }
  static void add_given(const Tensor& tensor, std::vector<Piece>& pieces, std::vector<Size>&) {
    pieces.push_back(tensor.piece());
  }
  static void add_given(const Size& position, std::vector<Piece>&, std::vector<Size>& positions) {
    positions.push_back(position);
  }
  void add_launch(Launched what, std::vector<Piece> pieces, std::vector<Size> positions);
  std::vector<Size> open_range(bool parallel, std::vector<Size> extents, const Site& site);
  void close_range();

  tasks::Inner inner_;
  std::vector<Range> open_;      ///< surrounding ranges, the outermost first
  std::set<std::string> names_;  ///< names that no index may have
  std::size_t unnamed_ = 0;
  std::optional<Diagnostic> error_;
};

// --- Leaves -------------------------------------------------------------------------------------

class Leaf;
struct Operand;
struct NumbersAlone;

/// A tile in a leaf's computation, or a function of numbers alone.
struct Value {
  Leaf* leaf = nullptr;
  std::size_t node = 0;
  std::shared_ptr<const NumbersAlone> alone = nullptr;
};

/// An argument of a leaf: its current value, and a target of assignments.
class Slot {
 public:
  Slot(Leaf* leaf, std::string argument) : leaf_(leaf), argument_(std::move(argument)) {}
  Slot(const Slot&) = default;
  Slot& operator=(const Slot& from);
  Slot& operator=(const Operand& from);
  void assign(Value value, const Where& where);
  void combine(Function by, Value value, const Where& where);
  Value value(const Where& where) const;
  Leaf* leaf() const { return leaf_; }

 private:
  Leaf* leaf_;
  std::string argument_;
};

/// An operand with its place in the source.
struct Operand {
  Operand(Value from, Site site = Site::current());        // NOLINT: operands convert
  Operand(const Slot& from, Site site = Site::current());  // NOLINT
  Operand(double from, Site site = Site::current());       // NOLINT
  Value in(Leaf* other) const;
  Leaf* leaf = nullptr;  ///< null for numbers
  std::size_t node = 0;
  double number = 0;
  std::shared_ptr<const NumbersAlone> alone = nullptr;
  Where where;
};

/// A function of numbers alone. The leaf that uses the result refuses the function at its place.
struct NumbersAlone {
  Function function = Function::cast;
  std::vector<Operand> operands;
  Scalar to = Scalar::f32;  ///< cast: type of the result
  Where where;
};

class Leaf {
 public:
  explicit Leaf(const TaskValue& task) : builder_(task) {}
  LeafBuilder& builder() { return builder_; }
  /// Numbers 0, 1, 2 ... up to a size of the signature.
  Value iota(Size length, Site site = Site::current()) {
    return {this, builder_.iota(std::move(length), where_of(site))};
  }
  tasks::Leaf take() const { return builder_.finish(); }

 private:
  LeafBuilder builder_;
};

Value operator+(const Operand& a, const Operand& b);
Value operator-(const Operand& a, const Operand& b);
Value operator*(const Operand& a, const Operand& b);
Value operator/(const Operand& a, const Operand& b);
Value operator-(const Operand& a);
void operator+=(Slot slot, const Operand& value);
/// Sets the slot to the larger, or the smaller, of its content and the value.
void raise(Slot slot, const Operand& value);
void lower(Slot slot, const Operand& value);
Value operator<(const Operand& a, const Operand& b);
Value operator<=(const Operand& a, const Operand& b);
Value operator>(const Operand& a, const Operand& b);
Value operator>=(const Operand& a, const Operand& b);
Value equal(const Operand& a, const Operand& b);
Value unequal(const Operand& a, const Operand& b);
/// Conditions combined.
Value both(const Operand& a, const Operand& b);
Value either(const Operand& a, const Operand& b);
Value opposite(const Operand& a);
/// `a` if the condition holds, else `b`.
Value select(const Operand& condition, const Operand& a, const Operand& b);
Value max(const Operand& a, const Operand& b);
Value min(const Operand& a, const Operand& b);
Value exp(const Operand& a);
Value exp2(const Operand& a);
Value log(const Operand& a);
Value log2(const Operand& a);
Value sqrt(const Operand& a);
Value rsqrt(const Operand& a);
Value tanh(const Operand& a);
Value erf(const Operand& a);
Value abs(const Operand& a);
Value cast(Scalar to, const Operand& a);
Value column(const Operand& a);
Value row(const Operand& a);
Value transpose(const Operand& a);
Value row_max(const Operand& a);
Value row_sum(const Operand& a);
Value mma(const Operand& a, const Operand& b);
Value mma(const Operand& a, const Operand& b, const Operand& onto);

// --- Tasks --------------------------------------------------------------------------------------

/// Cuts a size of the signature into parts of that many elements: `by("M", "U")`, of a tunable U.
Split by(std::string size, Size length, Site site = Site::current());
/// Cuts a size of the signature into that many parts.
Split into(std::string size, Size count, Site site = Site::current());

/// A task's signature with its variants, the outermost first.
class Task {
 public:
  Task(std::string name, std::vector<Argument> arguments, Site site = Site::current());
  /// Adds positions after the tensors: numbers known at the launch.
  Task(std::string name, std::vector<Argument> arguments, std::vector<std::string> positions,
       Site site = Site::current());

  /// `body`: (Inner&, Tensor, ...), a tensor for each argument; positions are sizes of their names.
  template <class Body>
  Task& inner(std::string name, Body body, Site site = Site::current());
  /// Adds the inner variant that launches this task on its parts, as in `gemm.split("host",
  /// {by("M", "U"), by("N", "V")})`: see split_into.
  Task& split(std::string name, const std::vector<Split>& splits, Site site = Site::current());
  /// `body`: (Leaf&, Slot, ...), a slot for each argument, then for each position.
  template <class Body>
  Task& leaf(std::string name, Body body, Site site = Site::current());

  /// Adds CUDA C++ that computes the same as the leaf `meaning`, element by element. `function`
  /// takes an f32 for each argument that is read, and returns an f32.
  Task& external(std::string name, std::string meaning, std::string function, std::string code,
                 Site site = Site::current());

  const TaskValue& value() const { return state_->task; }
  const std::vector<Diagnostic>& errors() const { return state_->errors; }

 private:
  struct State {
    TaskValue task;
    std::vector<Diagnostic> errors;
  };
  /// False, with a recorded error, if a variant takes another number of arguments than the task.
  bool takes(const std::string& variant, std::size_t arguments, std::size_t positions,
             const Site& site);
  std::vector<Tensor> tensors() const;
  /// Names of sizes and positions of the signature.
  std::set<std::string> names() const;
  void add(std::string name, std::variant<tasks::Inner, tasks::Leaf> body, const Site& site);

  std::shared_ptr<State> state_;
};

/// Collects the tasks as one value. Fails at their first error: see check.h.
Result<Library> library_of(const std::vector<Task>& tasks);

// --- Templates ----------------------------------------------------------------------------------

/// Number of parameters that a lambda has after its first.
template <class Body>
struct ParametersOf : ParametersOf<decltype(&Body::operator())> {};
template <class Of, class Returns, class First, class... Rest>
struct ParametersOf<Returns (Of::*)(First, Rest...) const> {
  static constexpr std::size_t value = sizeof...(Rest);
};
template <class Of, class Returns, class First, class... Rest>
struct ParametersOf<Returns (Of::*)(First, Rest...)> {
  static constexpr std::size_t value = sizeof...(Rest);
};

template <class Body, class First, class Rest, std::size_t... I>
void call_with(Body& body, First& first, const std::vector<Rest>& rest, std::index_sequence<I...>) {
  body(first, rest[I]...);
}

/// Most indices of a range.
inline constexpr std::size_t kMostIndices = 8;

template <class Body, std::size_t... I>
constexpr bool takes_indices(std::index_sequence<I...>) {
  return std::is_invocable_v<Body&, decltype((void)I, Size())...>;
}

/// Number of indices that a range's lambda takes; 0 if it takes none of these numbers.
template <class Body, std::size_t... Before>
constexpr std::size_t indices_of(std::index_sequence<Before...>) {
  std::size_t count = 0;
  const auto note = [&](bool takes, std::size_t indices) {
    if (takes && count == 0) count = indices;
  };
  (note(takes_indices<Body>(std::make_index_sequence<Before + 1>()), Before + 1), ...);
  return count;
}

template <class Body, std::size_t... I>
void call_with_indices(Body& body, const std::vector<Size>& indices, std::index_sequence<I...>) {
  body(indices[I]...);
}

template <class Body>
void Inner::range(bool parallel, std::vector<Size> extents, Body& body, const Site& site) {
  constexpr std::size_t kCount = indices_of<Body>(std::make_index_sequence<kMostIndices>());
  static_assert(kCount > 0, "the lambda of a range takes a Size for each extent, eight at most");
  if (!takes(kCount, extents.size(), site)) return;
  const std::vector<Size> indices = open_range(parallel, std::move(extents), site);
  call_with_indices(body, indices, std::make_index_sequence<kCount>());
  close_range();
}

template <class Body>
Task& Task::inner(std::string name, Body body, Site site) {
  constexpr std::size_t kCount = ParametersOf<Body>::value;
  if (!takes(name, kCount, 0, site)) return *this;
  Inner inner(names());
  call_with(body, inner, tensors(), std::make_index_sequence<kCount>());
  if (inner.error()) state_->errors.push_back(*inner.error());
  add(std::move(name), std::move(inner).take(), site);
  return *this;
}

template <class Body>
Task& Task::leaf(std::string name, Body body, Site site) {
  constexpr std::size_t kCount = ParametersOf<Body>::value;
  if (!takes(name, kCount, state_->task.positions.size(), site)) return *this;
  const TaskValue task = state_->task;
  Leaf leaf(task);
  std::vector<Slot> slots;
  for (const Argument& argument : task.arguments) slots.emplace_back(&leaf, argument.name);
  for (const std::string& position : task.positions) slots.emplace_back(&leaf, position);
  call_with(body, leaf, slots, std::make_index_sequence<kCount>());
  add(std::move(name), leaf.take(), site);
  return *this;
}

}  // namespace twill::tasks::cpp
