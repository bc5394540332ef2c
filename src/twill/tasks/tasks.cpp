#include "twill/tasks/tasks.h"

#include <algorithm>

#include <fmt/format.h>

#include "twill/tasks/check.h"

namespace twill::tasks::cpp {

Where where_of(const Site& site) {
  const std::string file = site.file_name();
  return {{file.substr(file.rfind('/') + 1), static_cast<int>(site.line()),
           static_cast<int>(site.column())}};
}

Argument reads(std::string name, Scalar scalar, std::vector<Size> shape, Site site) {
  return {std::move(name), Privilege::reads, scalar, std::move(shape), where_of(site)};
}
Argument writes(std::string name, Scalar scalar, std::vector<Size> shape, Site site) {
  return {std::move(name), Privilege::writes, scalar, std::move(shape), where_of(site)};
}
Argument updates(std::string name, Scalar scalar, std::vector<Size> shape, Site site) {
  return {std::move(name), Privilege::updates, scalar, std::move(shape), where_of(site)};
}

Argument reduces(std::string name, Scalar scalar, std::vector<Size> shape, Site site) {
  return {std::move(name), Privilege::reduces, scalar, std::move(shape), where_of(site)};
}

Argument reduces_max(std::string name, Scalar scalar, std::vector<Size> shape, Site site) {
  return {std::move(name), Privilege::reduces_max, scalar, std::move(shape), where_of(site)};
}
Argument reduces_min(std::string name, Scalar scalar, std::vector<Size> shape, Site site) {
  return {std::move(name), Privilege::reduces_min, scalar, std::move(shape), where_of(site)};
}

// --- Tensors ------------------------------------------------------------------------------------

Size Tensor::extent(std::size_t dimension) const {
  return dimension < shape_.size() ? shape_[dimension] : Size(0);
}

Tensor Partition::at(std::vector<Size> index) const {
  Piece piece = of_.piece();
  piece.where = where_;
  piece.blocks.push_back(part_);
  piece.blocks.back().index = std::move(index);
  return {std::move(piece), shape_of(part_, of_.shape())};
}

Partition blocks(const Tensor& tensor, std::vector<Size> tile, EdgeRule edge, Site site) {
  return {tensor, {std::move(tile), edge, {}}, where_of(site)};
}

Partition windows(const Tensor& tensor, std::vector<Size> tile, std::vector<Size> step,
                  EdgeRule edge, Site site) {
  return {tensor, {std::move(tile), edge, {}, Cut::windows, std::move(step)}, where_of(site)};
}

Partition windows(const Tensor& tensor, std::vector<Size> tile, std::vector<Size> step,
                  std::vector<Size> every, EdgeRule edge, Site site) {
  Block block{std::move(tile), edge, {}, Cut::windows, std::move(step)};
  block.every = std::move(every);
  return {tensor, std::move(block), where_of(site)};
}

Partition mma(const Tensor& tensor, Fragment operand, Level level, std::vector<Size> instruction,
              Site site) {
  return {tensor,
          {std::move(instruction), Edge::zero, {}, Cut::mma, {}, 0, operand, level},
          where_of(site)};
}

Tensor slice(const Tensor& tensor, std::vector<Size> first, std::vector<Size> extent, EdgeRule edge,
             Site site) {
  std::vector<Size> step(extent.size(), Size(1));
  return windows(tensor, std::move(extent), std::move(step), edge, site).at(std::move(first));
}

Tensor pick(const Tensor& tensor, Size index, std::size_t dimension, Site site) {
  Piece piece = tensor.piece();
  piece.where = where_of(site);
  std::vector<Size> shape = tensor.shape();
  if (dimension < shape.size()) shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(dimension));
  piece.blocks.push_back({{}, Edge::zero, {std::move(index)}, Cut::pick, {}, dimension});
  return {std::move(piece), std::move(shape)};
}

// --- Inner variants -----------------------------------------------------------------------------

Launched::Launched(const Task& launched, Site site)
    : task(launched.value().name), where(where_of(site)) {}

SizeComparison equal(const Size& a, const Size& b) { return {a, Function::equal, b}; }
SizeComparison unequal(const Size& a, const Size& b) { return {a, Function::unequal, b}; }

Size Inner::tunable(std::string name) {
  names_.insert(name);
  const auto found = std::find(inner_.tunables.begin(), inner_.tunables.end(), name);
  if (found == inner_.tunables.end()) inner_.tunables.push_back(name);
  return Size::named(std::move(name));
}

Tensor Inner::tensor(Scalar scalar, std::vector<Size> shape, std::string name, Site site) {
  if (name.empty()) name = fmt::format("t{}", unnamed_++);
  Make make{name, scalar, shape, where_of(site)};
  auto& body = open_.empty() ? inner_.body : open_.back().body;
  body.push_back({std::move(make)});
  return {{std::move(name), {}, where_of(site)}, std::move(shape)};
}

void Inner::add_launch(Launched what, std::vector<Piece> pieces, std::vector<Size> positions) {
  for (Piece& piece : pieces) piece.where = what.where;
  auto& body = open_.empty() ? inner_.body : open_.back().body;
  body.push_back(
      {Launch{std::move(what.task), std::move(pieces), what.where, std::move(positions)}});
}

std::vector<Size> Inner::open_range(bool parallel, std::vector<Size> extents, const Site& site) {
  constexpr std::array<const char*, 3> kNames = {"i", "j", "k"};
  std::set<std::string> taken = names_;
  for (const Range& range : open_) {
    for (const Dimension& dimension : range.dimensions) taken.insert(dimension.index);
  }
  Range range{parallel, {}, {}, where_of(site)};
  std::vector<Size> indices;
  std::size_t next = 0;
  for (Size& extent : extents) {
    std::string name;
    do {
      const std::string round = next < kNames.size() ? "" : std::to_string(next / kNames.size());
      name = kNames[next++ % kNames.size()] + round;
    } while (taken.contains(name));
    indices.push_back(Size::named(name));
    range.dimensions.push_back({std::move(name), std::move(extent)});
  }
  open_.push_back(std::move(range));
  return indices;
}

bool Inner::takes(std::size_t parameters, std::size_t indices, const Site& site) {
  if (parameters == indices) return true;
  if (error_) return false;
  const auto counted = [](std::size_t count, const char* one, const char* many) {
    return fmt::format("{} {}", count, count == 1 ? one : many);
  };
  error_ = fail_task("T01", where_of(site),
                     fmt::format("the lambda of a range with {} takes {}",
                                 counted(indices, "extent", "extents"),
                                 counted(parameters, "index", "indices")),
                     "the lambda has a parameter for each extent")
               .value();
  return false;
}

void Inner::close_range() {
  Range range = std::move(open_.back());
  open_.pop_back();
  auto& body = open_.empty() ? inner_.body : open_.back().body;
  body.push_back({std::move(range)});
}

// --- Leaves -------------------------------------------------------------------------------------

Value Slot::value(const Where& where) const {
  return {leaf_, leaf_->builder().value_of(argument_, where)};
}

void Slot::assign(Value value, const Where& where) {
  leaf_->builder().assign(argument_, value.node, where);
}

void Slot::combine(Function by, Value value, const Where& where) {
  leaf_->builder().combine(by, argument_, value.node, where);
}

Slot& Slot::operator=(const Slot& from) {
  if (leaf_ != nullptr && this != &from) assign(from.value({}), {});
  return *this;
}

Slot& Slot::operator=(const Operand& from) {
  assign(from.in(leaf_), from.where);
  return *this;
}

Operand::Operand(Value from, Site site)
    : leaf(from.leaf), node(from.node), alone(std::move(from.alone)), where(where_of(site)) {}
Operand::Operand(const Slot& from, Site site) : leaf(from.leaf()), where(where_of(site)) {
  node = from.value(where).node;
}
Operand::Operand(double from, Site site) : number(from), where(where_of(site)) {}

Value Operand::in(Leaf* other) const {
  if (leaf != nullptr) return {leaf, node};
  if (alone == nullptr) return {other, other->builder().constant(number, where)};
  std::vector<std::size_t> nodes;
  for (const Operand& operand : alone->operands) nodes.push_back(operand.in(other).node);
  LeafBuilder& builder = other->builder();
  return {other, alone->function == Function::cast
                     ? builder.cast(alone->to, nodes[0], alone->where)
                     : builder.apply(alone->function, std::move(nodes), alone->where)};
}

namespace {

Leaf* leaf_of(const std::vector<Operand>& operands) {
  for (const Operand& operand : operands) {
    if (operand.leaf != nullptr) return operand.leaf;
  }
  return nullptr;
}

Value alone(NumbersAlone numbers) {
  return {nullptr, 0, std::make_shared<const NumbersAlone>(std::move(numbers))};
}

Value applied(Function function, const std::vector<Operand>& operands) {
  Leaf* leaf = leaf_of(operands);
  if (leaf == nullptr) return alone({function, operands, {}, operands[0].where});
  std::vector<std::size_t> nodes;
  for (const Operand& operand : operands) nodes.push_back(operand.in(leaf).node);
  return {leaf, leaf->builder().apply(function, std::move(nodes), operands[0].where)};
}

}  // namespace

Value operator+(const Operand& a, const Operand& b) { return applied(Function::add, {a, b}); }
Value operator-(const Operand& a, const Operand& b) { return applied(Function::sub, {a, b}); }
Value operator*(const Operand& a, const Operand& b) { return applied(Function::mul, {a, b}); }
Value operator/(const Operand& a, const Operand& b) { return applied(Function::div, {a, b}); }
Value operator-(const Operand& a) { return applied(Function::neg, {a}); }
void operator+=(Slot slot, const Operand& value) {
  slot.combine(Function::add, value.in(slot.leaf()), value.where);
}
void raise(Slot slot, const Operand& value) {
  slot.combine(Function::max, value.in(slot.leaf()), value.where);
}
void lower(Slot slot, const Operand& value) {
  slot.combine(Function::min, value.in(slot.leaf()), value.where);
}
Value operator<(const Operand& a, const Operand& b) { return applied(Function::less, {a, b}); }
Value operator<=(const Operand& a, const Operand& b) {
  return applied(Function::less_equal, {a, b});
}
Value operator>(const Operand& a, const Operand& b) { return applied(Function::greater, {a, b}); }
Value operator>=(const Operand& a, const Operand& b) {
  return applied(Function::greater_equal, {a, b});
}
Value equal(const Operand& a, const Operand& b) { return applied(Function::equal, {a, b}); }
Value unequal(const Operand& a, const Operand& b) { return applied(Function::unequal, {a, b}); }
Value both(const Operand& a, const Operand& b) { return applied(Function::both, {a, b}); }
Value either(const Operand& a, const Operand& b) { return applied(Function::either, {a, b}); }
Value opposite(const Operand& a) { return applied(Function::opposite, {a}); }
Value select(const Operand& condition, const Operand& a, const Operand& b) {
  return applied(Function::select, {condition, a, b});
}
Value max(const Operand& a, const Operand& b) { return applied(Function::max, {a, b}); }
Value min(const Operand& a, const Operand& b) { return applied(Function::min, {a, b}); }
Value exp(const Operand& a) { return applied(Function::exp, {a}); }
Value exp2(const Operand& a) { return applied(Function::exp2, {a}); }
Value log(const Operand& a) { return applied(Function::log, {a}); }
Value log2(const Operand& a) { return applied(Function::log2, {a}); }
Value sqrt(const Operand& a) { return applied(Function::sqrt, {a}); }
Value rsqrt(const Operand& a) { return applied(Function::rsqrt, {a}); }
Value tanh(const Operand& a) { return applied(Function::tanh, {a}); }
Value erf(const Operand& a) { return applied(Function::erf, {a}); }
Value abs(const Operand& a) { return applied(Function::abs, {a}); }
Value cast(Scalar to, const Operand& a) {
  if (a.leaf == nullptr) return alone({Function::cast, {a}, to, a.where});
  return {a.leaf, a.leaf->builder().cast(to, a.node, a.where)};
}
Value column(const Operand& a) { return applied(Function::column, {a}); }
Value row(const Operand& a) { return applied(Function::row, {a}); }
Value transpose(const Operand& a) { return applied(Function::transpose, {a}); }
Value row_max(const Operand& a) { return applied(Function::row_max, {a}); }
Value row_sum(const Operand& a) { return applied(Function::row_sum, {a}); }
Value mma(const Operand& a, const Operand& b) { return applied(Function::mma, {a, b}); }
Value mma(const Operand& a, const Operand& b, const Operand& onto) {
  return applied(Function::mma, {a, b, onto});
}

// --- Tasks --------------------------------------------------------------------------------------

Task::Task(std::string name, std::vector<Argument> arguments, Site site)
    : state_(std::make_shared<State>()) {
  state_->task = {std::move(name), std::move(arguments), {}, where_of(site)};
}

Task::Task(std::string name, std::vector<Argument> arguments, std::vector<std::string> positions,
           Site site)
    : Task(std::move(name), std::move(arguments), site) {
  state_->task.positions = std::move(positions);
}

bool Task::takes(const std::string& variant, std::size_t arguments, std::size_t positions,
                 const Site& site) {
  const std::size_t wanted = state_->task.arguments.size() + positions;
  if (arguments == wanted) return true;
  state_->errors.push_back(
      fail_task("T02", where_of(site),
                fmt::format("variant '{}' of '{}' takes {} tensors, its task {}", variant,
                            state_->task.name, arguments, wanted),
                "the lambda has a parameter for each argument")
          .value());
  return false;
}

std::set<std::string> Task::names() const {
  const auto& positions = state_->task.positions;
  std::set<std::string> names(positions.begin(), positions.end());
  for (const Argument& argument : state_->task.arguments) {
    for (const Size& size : argument.shape) names.merge(names_in(size));
  }
  return names;
}

std::vector<Tensor> Task::tensors() const {
  std::vector<Tensor> all;
  for (const Argument& argument : state_->task.arguments) {
    all.emplace_back(Piece{argument.name, {}, argument.where}, argument.shape);
  }
  return all;
}

Split by(std::string size, Size length, Site site) {
  return {std::move(size), std::move(length), false, where_of(site)};
}

Split into(std::string size, Size count, Site site) {
  return {std::move(size), std::move(count), true, where_of(site)};
}

Task& Task::split(std::string name, const std::vector<Split>& splits, Site site) {
  auto inner = split_into(state_->task, splits, where_of(site));
  if (inner) {
    add(std::move(name), *std::move(inner), site);
  } else {
    state_->errors.push_back(std::move(inner).error());
  }
  return *this;
}

Task& Task::external(std::string name, std::string meaning, std::string function, std::string code,
                     Site site) {
  auto leaf = external_leaf(
      state_->task, {std::move(meaning), std::move(function), std::move(code), where_of(site)});
  if (leaf) {
    add(std::move(name), *std::move(leaf), site);
  } else {
    state_->errors.push_back(std::move(leaf).error());
  }
  return *this;
}

void Task::add(std::string name, std::variant<tasks::Inner, tasks::Leaf> body, const Site& site) {
  state_->task.variants.push_back({std::move(name), std::move(body), where_of(site)});
}

Result<Library> library_of(const std::vector<Task>& tasks) {
  Library library;
  for (const Task& task : tasks) {
    if (!task.errors().empty()) return tl::unexpected(task.errors()[0]);
    library.tasks.push_back(task.value());
  }
  TWILL_TRY_VOID(check(library));
  return library;
}

}  // namespace twill::tasks::cpp
