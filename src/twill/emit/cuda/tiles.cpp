#include "twill/emit/cuda/tiles.h"

#include <fmt/format.h>

#include "twill/emit/cuda/arithmetic.h"
#include "twill/ir/operands.h"

namespace twill::emit::cuda {
namespace {

using ir::OpKind;

std::string packed_element(const Variable& variable, const std::string& name,
                           const std::string& index) {
  return fmt::format("twill::unpack<{}>({}[({}) / 2], ({}) % 2)", variable.type, name, index,
                     index);
}

}  // namespace

// A thread's elements of a fragment, as wgmma numbers them. In a 64-row block, element i = 4j + 2h
// + e is in row 8h of the thread's two rows, and in column 8j + e.

std::string Tiles::row_slot(const Frame& frame) const {
  if (frame.place != nullptr) return frame.place->row_slot;
  if (frame.shape.kind == Shape::Kind::row_vector) return frame.index;
  if (frame.shape.rows == 64) return fmt::format("{} / 2 % 2", frame.index);
  return fmt::format("{0} / {1} * 2 + {0} / 2 % 2", frame.index, frame.shape.columns / 2);
}

std::string Tiles::column_slot(const Frame& frame) const {
  if (frame.place != nullptr) return frame.place->column_slot;
  if (frame.shape.kind == Shape::Kind::column_vector) return frame.index;
  const std::string in_block = frame.shape.rows == 64
                                   ? frame.index
                                   : fmt::format("({} % {})", frame.index, frame.shape.columns / 2);
  return fmt::format("{0} / 4 * 2 + {0} % 2", in_block);
}

std::string Tiles::row_number(const Frame& frame) const {
  if (frame.place != nullptr) return frame.place->row;
  const std::string slot = row_slot(frame);
  const auto [begin, end] = view_.rows_of(part_, frame.shape.rows);
  return fmt::format("({} + twill::fragment_row() + ({}) / 2 * 64 + ({}) % 2 * 8)", begin, slot,
                     slot);
}

std::string Tiles::column_number(const Frame& frame) const {
  if (frame.place != nullptr) return frame.place->column;
  const std::string slot = column_slot(frame);
  return fmt::format("(twill::fragment_column() + ({}) / 2 * 8 + ({}) % 2)", slot, slot);
}

Tiles::Axes Tiles::axes_of(ir::ValueId value) const {
  const auto& shape = ir::type_of(view_.program(), value)->shape;
  if (shape.size() == 1) {
    return {view_.along(value) == Along::columns ? Axis::columns : Axis::rows};
  }
  return {Axis::rows, Axis::columns};
}

/// Axes of an element at a place: dimensions of size 1 run along no axis.
Tiles::Axes Tiles::axes_at(ir::ValueId value) const {
  Axes axes = axes_of(value);
  const auto& shape = ir::type_of(view_.program(), value)->shape;
  for (std::size_t i = 0; shape.size() > 1 && i < axes.size(); ++i) {
    if (shape[i] == 1) axes[i] = Axis::one;
  }
  return axes;
}

Result<std::string> Tiles::stored(Frame& frame, const Found& found, ir::ValueId value,
                                  const Axes& axes) {
  const Variable& variable = *found.variable;
  std::string index;
  switch (variable.shape.kind) {
    case Shape::Kind::matrix:
      if (axes != Axes{Axis::rows, Axis::columns} || frame.place != nullptr) {
        return view_.refuse(value, "is read transposed, or as part of another tile");
      }
      index = frame.index;
      break;
    case Shape::Kind::row_vector:
      if (axes[0] != Axis::rows) return view_.refuse(value, "runs along rows and along columns");
      index = row_slot(frame);
      break;
    case Shape::Kind::column_vector:
      if (axes.back() != Axis::columns) {
        return view_.refuse(value, "runs along rows and along columns");
      }
      index = column_slot(frame);
      break;
  }
  if (index.empty())
    return view_.refuse(value, "is held for other columns than those at which it is read");
  if (variable.packed) return packed_element(variable, found.name, index);
  return fmt::format("{}[{}]", found.name, index);
}

Result<std::string> Tiles::computed(Frame& frame, const ir::Op& op, ir::ValueId value,
                                    const Axes& axes) {
  switch (op.kind) {
    case OpKind::splat:
      return scalars_(op.operands[0], iteration_);
    case OpKind::relayout:
      return element(frame, op.operands[0], axes);
    case OpKind::broadcast: {
      Axes from = axes;
      const auto& shape = ir::type_of(view_.program(), op.operands[0])->shape;
      for (std::size_t i = 0; i < from.size() && i < shape.size(); ++i) {
        if (shape[i] == 1) from[i] = Axis::one;
      }
      return element(frame, op.operands[0], from);
    }
    case OpKind::expand_dims: {
      Axes from = axes;
      const auto axis = op.axis.value_or(0);
      if (axis < 0 || axis >= static_cast<std::int64_t>(from.size())) break;
      from.erase(from.begin() + static_cast<std::ptrdiff_t>(axis));
      return element(frame, op.operands[0], from);
    }
    case OpKind::range: {
      const auto start = op.start;
      const std::string number = axes[0] == Axis::rows ? row_number(frame) : column_number(frame);
      return start == 0 ? number : fmt::format("({} + {})", start, number);
    }
    case OpKind::split:
      return half(frame, value, axes);
    case OpKind::load:
      return loaded(frame, *view_.program().value(value).op, axes);
    default:
      break;
  }
  std::vector<std::string> operands;
  for (const ir::ValueId operand : op.operands) {
    TWILL_TRY(std::string text, element(frame, operand, axes));
    operands.push_back(std::move(text));
  }
  const auto expression = arithmetic(view_.program(), op, operands);
  if (!expression) return view_.refuse(value, "is not printed for tiles yet");
  return named(frame, value, axes, *expression);
}

/// Declares a constant of the value's type, whose name is used for the value from here on.
std::string Tiles::named(Frame& frame, ir::ValueId value, const Axes& axes,
                         const std::string& text) const {
  const bool twice = frame.known.contains({value, axes[0] != Axis::columns});
  const std::string name = fmt::format("v{}{}{}", identifier(view_.program().value(value).name),
                                       twice ? "_too" : "", frame.suffix);
  const std::string type = cpp_type(ir::type_of(view_.program(), value));
  frame.text->line(fmt::format("{} = {};", constant_of(type, name), text));
  frame.known[{value, axes[0] == Axis::columns}] = name;
  return name;
}

/// The element of the whole tile that corresponds to an element of its half.
Result<std::string> Tiles::half(Frame& frame, ir::ValueId value, const Axes& axes) {
  const auto half = view_.half_of(value);
  if (!half || frame.shape.kind != Shape::Kind::matrix || axes != Axes{Axis::rows, Axis::columns}) {
    return view_.refuse(value, "splits a tile into other parts than halves of its columns");
  }
  const std::int64_t here = frame.shape.columns / 2;  // elements that a thread has in 64 rows
  const std::int64_t first = half->side * here;
  Frame whole{frame.shape, "", {}, frame.text, frame.suffix + (half->side == 0 ? "_l" : "_r")};
  whole.shape.columns *= 2;
  whole.index = frame.shape.rows == 64 ? fmt::format("({} + {})", frame.index, first)
                                       : fmt::format("({0} / {1} * {2} + {0} % {1} + {3})",
                                                     frame.index, here, 2 * here, first);
  TWILL_TRY(const std::string text, element(whole, half->whole, axes));
  return named(frame, value, axes, text);
}

Result<std::string> Tiles::loaded(Frame& frame, ir::OpId load, const Axes& axes) {
  TWILL_TRY_VOID(view_.check_load(load));
  const auto access = *ir::memory_access(view_.program().op(load));
  if (!iteration_.empty() && !ir::is_inside(view_.program(), load, view_.loop().op)) {
    return view_.refuse(load, "loads a tile before the loop, which the loop reads");
  }
  std::vector<std::string> operands;
  for (const ir::ValueId operand : view_.program().op(load).operands) {
    TWILL_TRY(std::string text, element(frame, operand, axes));
    operands.push_back(std::move(text));
  }
  const auto text = arithmetic(view_.program(), view_.program().op(load), operands);
  if (!text) return view_.refuse(load, "has operands that are not known");
  return named(frame, *access.result, axes, *text);
}

Result<std::string> Tiles::element(Frame& frame, ir::ValueId value, const Axes& axes) {
  const ir::Type type = ir::type_of(view_.program(), value);
  if (!is_register_tile(type)) return scalars_(value, iteration_);
  if (const auto number = constant(view_.program(), value)) return *number;
  const auto key = std::pair{value, !axes.empty() && axes[0] == Axis::columns};
  if (const auto known = frame.known.find(key); known != frame.known.end()) return known->second;
  if (const auto found = find_(value)) return stored(frame, *found, value, axes);
  const ir::Op* op = ir::defining_op(view_.program(), value);
  if (op != nullptr) return computed(frame, *op, value, axes);
  const auto advance = ir::advance_of(view_.program(), view_.loop(), value);
  if (!advance || iteration_.empty()) {
    return view_.refuse(value, "is a tile that this role does not have");
  }
  TWILL_TRY(const std::string first, element(frame, advance->init, axes));
  if (iteration_ == "0") return first;
  TWILL_TRY(std::string by, element(frame, advance->by, axes));
  if (type->element->kind == ir::TypeKind::pointer)
    by = fmt::format("static_cast<long long>({})", by);
  return named(frame, value, axes, fmt::format("{} + ({}) * ({})", first, by, iteration_));
}

/// Packs two neighbouring columns into one register. A value that is rounded from f32 is rounded in
/// pairs.
Result<std::string> Tiles::packed_pair(Frame& frame, const Assignment& assignment) {
  ir::ValueId value = assignment.value;
  const ir::ValueId base = view_.behind_views(value);
  const ir::Op* rounding = ir::defining_op(view_.program(), base);
  const bool rounds = rounding != nullptr && rounding->kind == OpKind::fptrunc &&
                      cpp_type(ir::type_of(view_.program(), rounding->operands[0])) == "float" &&
                      !find_(base);
  if (rounds) value = rounding->operands[0];
  const std::string type = rounds ? "float" : assignment.array->type;
  Text& text = *frame.text;
  text.line(fmt::format("{} {}_pair[2];", type, assignment.array->name));
  text.line(kUnroll);
  text.open("for (int e = 0; e < 2; ++e)");
  Frame inner{frame.shape, "(2 * i + e)", {}, &text, ""};
  TWILL_TRY(const std::string made, element(inner, value, axes_of(value)));
  text.line(fmt::format("{}_pair[e] = {};", assignment.array->name, made));
  text.close();
  return fmt::format("twill::pack{1}({0}_pair[0], {0}_pair[1])", assignment.array->name,
                     rounds ? fmt::format("<{}>", assignment.array->type) : "_bits");
}

Result<void> Tiles::assign(Text& text, const std::vector<Assignment>& assignments) {
  const Variable& first = *assignments.front().array;
  text.line(kUnroll);
  text.open(fmt::format("for (int i = 0; i < {}; ++i)", array_length(first)));
  Frame frame{first.shape, "i", {}, &text, ""};
  std::vector<std::string> made;
  for (const Assignment& assignment : assignments) {
    if (first.packed) {
      TWILL_TRY(std::string pair, packed_pair(frame, assignment));
      made.push_back(std::move(pair));
    } else {
      TWILL_TRY(std::string one, element(frame, assignment.value, axes_of(assignment.value)));
      made.push_back(std::move(one));
    }
  }
  for (std::size_t a = 0; a < assignments.size(); ++a) {
    const Variable& array = *assignments[a].array;
    for (int back = array.depth - 1; back > 0; --back) {
      text.line(fmt::format("{}[i] = {}[i];", copy_name(array, back), copy_name(array, back - 1)));
    }
    text.line(fmt::format("{}[i] = {};", array.name, made[a]));
  }
  text.close();
  return {};
}

Result<void> Tiles::reduce(Text& text, const Variable& array, ir::OpId id, bool in_parts) {
  const auto reduction = *ir::reduction(view_.program(), id);
  const ir::ValueId source = reduction.sources[0];
  TWILL_TRY(const Shape shape, view_.shape_of(source, part_));
  const auto& combine = view_.program().block(reduction.combine);
  if (reduction.is_scan || reduction.sources.size() != 1 || reduction.axis != 1 ||
      shape.kind != Shape::Kind::matrix || combine.ops.size() != 2 || array.type != "float") {
    return view_.refuse(id, "is no reduction of f32 rows by one operation");
  }
  const ir::Op& by = view_.program().op(combine.ops[0]);
  const std::string rows = std::to_string(shape.rows / 32);
  // Two sums a row, of even and of odd columns: half the latency. The order of additions is free.
  text.line(fmt::format("float partial[{}][2];", rows));
  text.line(kUnroll);
  text.open(fmt::format("for (int i = 0; i < {}; ++i)", elements_per_thread(shape)));
  Frame frame{shape, "i", {}, &text, ""};
  TWILL_TRY(const std::string value, element(frame, source, {Axis::rows, Axis::columns}));
  text.line(fmt::format("float& so_far = partial[{}][i % 2];", row_slot(frame)));
  const auto combined = [&](const std::string& a, const std::string& b) {
    return arithmetic(view_.program(), by, {a, b});
  };
  const auto step = combined("so_far", value);
  if (!step) return view_.refuse(id, "combines its rows by " + by.name);
  const bool first_of_block = shape.rows > 64;
  text.line(fmt::format("so_far = {} < 2 ? {} : {};",
                        first_of_block ? fmt::format("i % {} / 2", shape.columns / 2) : "i / 2",
                        value, *step));
  text.close();
  text.line(kUnroll);
  text.open(fmt::format("for (int i = 0; i < {}; ++i)", rows));
  text.line(fmt::format("float row = {};", *combined("partial[i][0]", "partial[i][1]")));
  for (const int lanes : {1, 2}) {  // the four lanes of a quad hold a row
    if (in_parts) break;
    text.line(
        fmt::format("{{ const float other = __shfl_xor_sync(0xffffffffu, row, {}); row = {}; }}",
                    lanes, *combined("row", "other")));
  }
  for (int back = array.depth - 1; back > 0; --back) {
    text.line(fmt::format("{}[i] = {}[i];", copy_name(array, back), copy_name(array, back - 1)));
  }
  text.line(fmt::format("{}[i] = row;", array.name));
  text.close();
  return {};
}

Result<std::vector<std::string>> Tiles::at(Text& text, const std::vector<ir::ValueId>& values,
                                           const Place& place) {
  Frame frame{{}, "", {}, &text, "", &place};
  std::vector<std::string> elements;
  for (const ir::ValueId value : values) {
    TWILL_TRY(std::string one, element(frame, value, axes_at(value)));
    elements.push_back(std::move(one));
  }
  return elements;
}

}  // namespace twill::emit::cuda
