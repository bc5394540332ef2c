#include "twill/execute/evaluate.h"

#include <algorithm>
#include <map>

#include "twill/execute/elementwise.h"
#include "twill/execute/rounding.h"
#include "twill/execute/strided.h"
#include "twill/ir/operands.h"
#include "twill/ir/source_words.h"
#include "twill/ir/views.h"

namespace twill::execute {
namespace {

using ir::OpKind;

const Shape& shape_of(const ir::Program& program, ir::ValueId value) {
  return ir::type_of(program, value)->shape;
}

bool is_number(ir::Type scalar) { return scalar->kind == ir::TypeKind::floating; }

Tile zeros(Shape shape, bool floating) {
  const auto size = static_cast<std::size_t>(size_of(shape));
  if (floating) return {std::move(shape), Numbers(size)};
  return {std::move(shape), Integers(size)};
}

// --- Views --------------------------------------------------------------------------------------

/// The elements of `from` at distances `strides`, from `first` on.
Tile gathered(const Tile& from, Shape shape, const Shape& strides, std::int64_t first = 0) {
  Tile tile = zeros(std::move(shape), from.is_floating());
  if (from.is_floating()) {
    gather(tile.numbers(), from.numbers(), tile.shape, strides, first);
  } else {
    gather(tile.integers(), from.integers(), tile.shape, strides, first);
  }
  return tile;
}

std::vector<std::size_t> order_of(const ir::Op& op, std::size_t rank) {
  std::vector<std::size_t> order;
  const auto& written = op.order;
  for (std::size_t d = 0; d < rank; ++d) {
    const bool good = written && d < written->size() && (*written)[d] >= 0 &&
                      (*written)[d] < static_cast<std::int64_t>(rank);
    order.push_back(good ? static_cast<std::size_t>((*written)[d]) : d);
  }
  return order;
}

Tile transposed(const ir::Op& op, const Tile& from, const Box& box) {
  const Shape lie = strides_of(from.shape);
  Shape strides;
  for (const std::size_t d : order_of(op, box.size())) strides.push_back(lie[d]);
  return gathered(from, shape_of(box), strides);
}

Tile broadcast(const Tile& from, const Box& box) {
  Shape strides = strides_of(from.shape);
  for (std::size_t d = 0; d < strides.size(); ++d) strides[d] = from.shape[d] == 1 ? 0 : strides[d];
  return gathered(from, shape_of(box), strides);
}

/// Whether two shapes differ in dimensions of 1 only. A reshape keeps the order of all elements.
/// Only with such shapes is a part of its result a part of the operand.
bool only_ones_differ(const Shape& a, const Shape& b) {
  const auto without = [](const Shape& shape) {
    Shape kept;
    std::copy_if(shape.begin(), shape.end(), std::back_inserter(kept),
                 [](std::int64_t extent) { return extent != 1; });
    return kept;
  };
  return without(a) == without(b);
}

Box reshaped_box(const Shape& from, const Shape& to, const Box& box) {
  if (!only_ones_differ(from, to)) return whole(from);
  Box part;
  std::size_t d = 0;
  for (const std::int64_t extent : from) {
    if (extent == 1) {
      part.push_back({0, 1});
      continue;
    }
    while (d < to.size() && to[d] == 1) ++d;
    part.push_back(box[d++]);
  }
  return part;
}

Tile reshaped(const Shape& from_shape, const Shape& to_shape, const Tile& from, const Box& box) {
  Tile tile = from;
  if (only_ones_differ(from_shape, to_shape)) {
    tile.shape = shape_of(box);
    return tile;
  }
  tile.shape = to_shape;
  return crop(tile, box);
}

// --- Constants and ranges -----------------------------------------------------------------------

std::optional<Tile> constant(ir::Attribute value, ir::Type type, const Box& box) {
  const bool splat = value->kind == ir::AttributeKind::dense;
  if (splat && value->elements.size() != 1) return std::nullopt;
  const ir::Attribute scalar = splat ? value->elements[0] : value;
  const bool known = scalar->kind == ir::AttributeKind::integer ||
                     scalar->kind == ir::AttributeKind::boolean ||
                     scalar->kind == ir::AttributeKind::floating;
  if (!known) return std::nullopt;
  const ir::Type element = scalar_of(type);
  Tile tile = zeros(shape_of(box), is_number(element));
  if (tile.is_floating()) {
    const auto format = format_of(element);
    if (!format) return std::nullopt;
    std::fill(tile.numbers().begin(), tile.numbers().end(), round_to(*format, scalar->number));
  } else {
    const std::int64_t integer = wrapped(scalar->integer, element->bits);
    std::fill(tile.integers().begin(), tile.integers().end(), integer);
  }
  return tile;
}

Tile range(std::int64_t start, const Box& box) {
  Tile tile = zeros(shape_of(box), false);
  for (std::size_t i = 0; i < tile.size(); ++i) {
    tile.integers()[i] = start + box[0].begin + static_cast<std::int64_t>(i);
  }
  return tile;
}

Tile splat(const Tile& from, const Box& box) {
  return gathered(from, shape_of(box), Shape(box.size(), 0));
}

// --- Reductions ---------------------------------------------------------------------------------

/// Runs the combining block on whole tiles: each argument is a tile, every op works element by
/// element.
Result<std::vector<TilePtr>> combine(const ir::Program& program, ir::OpId id, ir::BlockId block,
                                     const std::vector<TilePtr>& arguments) {
  std::map<ir::ValueId, TilePtr> known;
  const ir::Block& body = program.block(block);
  for (std::size_t i = 0; i < arguments.size(); ++i) known[body.arguments[i]] = arguments[i];
  std::vector<TilePtr> operands;
  for (const ir::OpId inner : body.ops) {
    const ir::Op& op = program.op(inner);
    operands.clear();
    for (const ir::ValueId operand : op.operands) {
      const auto found = known.find(operand);
      if (found == known.end()) return cannot(program, id, "combines with a value from outside");
      operands.push_back(found->second);
    }
    if (op.kind == OpKind::combined) return operands;
    if (!is_elementwise(op.kind) && op.kind != OpKind::constant) {
      return cannot(program, inner, "is not known in a reduction");
    }
    TWILL_TRY(Tile tile, evaluate(program, inner, operands, {}));
    known[op.results[0]] = std::make_shared<const Tile>(std::move(tile));
  }
  return cannot(program, id, "combines without a result");
}

/// Reduces along the axis, element by element, in ascending order.
Result<Tile> reduced(const ir::Program& program, ir::OpId id, std::span<const TilePtr> operands,
                     std::size_t result) {
  const auto reduction = ir::reduction(program, id);
  if (!reduction || reduction->is_scan) return cannot(program, id, "is not known");
  const auto axis = static_cast<std::size_t>(reduction->axis);
  const std::size_t sources = operands.size();
  const std::size_t arguments = program.block(reduction->combine).arguments.size();
  if (sources == 0 || arguments != 2 * sources || axis >= operands[0]->shape.size()) {
    return cannot(program, id, "has operands that do not fit");
  }
  const auto slice = [&](std::size_t source, std::int64_t index) {
    Shape shape = operands[source]->shape;
    Shape strides = strides_of(shape);
    const std::int64_t first = index * strides[axis];
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
    strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(axis));
    return std::make_shared<const Tile>(
        gathered(*operands[source], std::move(shape), strides, first));
  };
  std::vector<TilePtr> sums;
  for (std::size_t s = 0; s < sources; ++s) sums.push_back(slice(s, 0));
  for (std::int64_t i = 1; i < operands[0]->shape[axis]; ++i) {
    std::vector<TilePtr> inputs = sums;
    for (std::size_t s = 0; s < sources; ++s) inputs.push_back(slice(s, i));
    TWILL_TRY(sums, combine(program, id, reduction->combine, inputs));
  }
  if (result >= sums.size()) return cannot(program, id, "has operands that do not fit");
  return *sums[result];
}

/// A running combination: element i combines all elements up to i, or from i on.
Result<Tile> scanned(const ir::Program& program, ir::OpId id, std::span<const TilePtr> operands,
                     const Box& box, std::size_t result) {
  const auto scan = ir::reduction(program, id);
  const auto axis = scan ? static_cast<std::size_t>(scan->axis) : 0;
  const bool fits = scan && scan->is_scan && !operands.empty() && result < operands.size() &&
                    axis < operands[0]->shape.size() &&
                    program.block(scan->combine).arguments.size() == 2 * operands.size();
  if (!fits) return cannot(program, id, "has operands that do not fit");
  std::vector<Tile> results;
  for (const TilePtr& operand : operands) results.push_back(*operand);
  std::vector<TilePtr> sums;
  const std::int64_t extent = operands[0]->shape[axis];
  for (std::int64_t step = 0; step < extent; ++step) {
    Box slice = whole(operands[0]->shape);
    const std::int64_t at = scan->reverse ? extent - 1 - step : step;
    slice[axis] = {at, at + 1};
    std::vector<TilePtr> inputs = sums;
    for (const TilePtr& operand : operands) {
      inputs.push_back(std::make_shared<const Tile>(crop(*operand, slice)));
    }
    if (step == 0) {
      sums = inputs;
      continue;
    }
    TWILL_TRY(sums, combine(program, id, scan->combine, inputs));
    for (std::size_t s = 0; s < sums.size() && s < results.size(); ++s) {
      paste(results[s], whole(results[s].shape), *sums[s], slice);
    }
  }
  Box wanted = whole(operands[0]->shape);
  wanted[axis] = box[axis];
  return crop(results[result], wanted);
}

// --- Joins and splits ---------------------------------------------------------------------------

/// Two tiles side by side in a new last dimension.
Tile joined(std::span<const TilePtr> operands, const Box& box) {
  Box part = whole(operands[0]->shape);
  part.push_back({0, 2});
  Tile tile = zeros(shape_of(part), operands[0]->is_floating());
  for (std::size_t i = 0; i < tile.size(); ++i) {
    const Tile& from = *operands[i % 2];
    if (from.is_floating()) {
      tile.numbers()[i] = from.numbers()[i / 2];
    } else {
      tile.integers()[i] = from.integers()[i / 2];
    }
  }
  Box wanted = part;
  wanted.back() = box.back();
  return crop(tile, wanted);
}

/// One of the two tiles that lie side by side in the last dimension.
Tile split(const Tile& from, std::size_t side, const Box& box) {
  Shape strides = strides_of(from.shape);
  strides.resize(box.size());
  return gathered(from, shape_of(box), strides, static_cast<std::int64_t>(side));
}

// --- Products -----------------------------------------------------------------------------------

Result<Tile> product(const ir::Program& program, ir::OpId id, std::span<const TilePtr> operands) {
  const ir::Op& op = program.op(id);
  if (operands.size() < 3) return cannot(program, id, "has operands that do not fit");
  Tile sums = *operands[2];
  TWILL_TRY_VOID(check_product(program, id, *operands[0], *operands[1], sums));
  const bool fresh = operands.size() > 3 && operands[3]->integers()[0] == 0;
  if (fresh) sums = zeros(sums.shape, sums.is_floating());
  multiply_add(*operands[0], *operands[1], sums);
  return converted(program, id, std::move(sums), ir::type_of(program, op.results[0]));
}

Box product_box(const ir::Program& program, const ir::Op& op, std::size_t operand, const Box& box) {
  const std::size_t rank = box.size();
  if (operand == 2) return box;
  if (operand > 2 || rank < 2) return {};
  const Shape& shape = shape_of(program, op.operands[operand]);
  Box part(box.begin(), box.end() - 2);
  if (operand == 0) {
    part.push_back(box[rank - 2]);
    part.push_back({0, shape.back()});
  } else {
    part.push_back({0, shape[shape.size() - 2]});
    part.push_back(box[rank - 1]);
  }
  return part;
}

bool keeps_rank(OpKind kind) {
  return kind == OpKind::broadcast || kind == OpKind::transpose ||
         kind == OpKind::buffer_transpose || ir::is_renaming(kind);
}

}  // namespace

bool can_evaluate(OpKind kind) {
  switch (kind) {
    case OpKind::constant:
    case OpKind::range:
    case OpKind::splat:
    case OpKind::unsplat:
    case OpKind::broadcast:
    case OpKind::expand_dims:
    case OpKind::reshape:
    case OpKind::transpose:
    case OpKind::reduce:
    case OpKind::scan:
    case OpKind::join:
    case OpKind::split:
    case OpKind::mma:
    case OpKind::wgmma:
    case OpKind::poison:
      return true;
    default:
      return ir::is_renaming(kind) || is_elementwise(kind);
  }
}

Box operand_box(const ir::Program& program, ir::OpId id, std::size_t operand, const Box& box) {
  const ir::Op& op = program.op(id);
  const Shape& shape = shape_of(program, op.operands[operand]);
  switch (op.kind) {
    case OpKind::transpose:
    case OpKind::buffer_transpose: {
      const std::vector<std::size_t> order = order_of(op, box.size());
      Box part(box.size());
      for (std::size_t d = 0; d < box.size(); ++d) part[order[d]] = box[d];
      return part;
    }
    case OpKind::broadcast: {
      Box part = box;
      for (std::size_t d = 0; d < part.size() && d < shape.size(); ++d) {
        if (shape[d] == 1) part[d] = {0, 1};
      }
      return part;
    }
    case OpKind::expand_dims:
    case OpKind::reshape:
    case OpKind::buffer_reshape:
      return reshaped_box(shape, shape_of(program, op.results[0]), box);
    case OpKind::reduce: {
      const auto axis = op.axis.value_or(0);
      Box part = box;
      const auto at = std::clamp<std::int64_t>(axis, 0, std::ssize(part));
      if (at < std::ssize(shape))
        part.insert(part.begin() + at, {0, shape[static_cast<std::size_t>(at)]});
      return part;
    }
    case OpKind::scan: {
      const auto axis = op.axis.value_or(0);
      Box part = box;
      if (axis >= 0 && axis < std::ssize(part)) {
        const auto at = static_cast<std::size_t>(axis);
        part[at] = {0, shape[at]};
      }
      return part;
    }
    case OpKind::join:
      return box.empty() ? Box{} : Box(box.begin(), box.end() - 1);
    case OpKind::split: {
      Box part = box;
      part.push_back({0, 2});
      return part;
    }
    case OpKind::mma:
    case OpKind::wgmma:
      return product_box(program, op, operand, box);
    default:
      return shape.empty() ? Box{} : shape.size() == box.size() ? box : whole(shape);
  }
}

Result<Tile> evaluate(const ir::Program& program, ir::OpId id, std::span<const TilePtr> operands,
                      const Box& box, std::size_t result) {
  const ir::Op& op = program.op(id);
  if (is_elementwise(op.kind)) return elementwise(program, id, operands, result);
  if (op.results.size() <= result || operands.size() != op.operands.size()) {
    return cannot(program, id, "has operands that do not fit");
  }
  const ir::Type type = ir::type_of(program, op.results[result]);
  if (type->shape.size() != box.size()) return cannot(program, id, "has results that do not fit");
  if (keeps_rank(op.kind) && operands[0]->shape.size() != box.size()) {
    return cannot(program, id, "has operands that do not fit");
  }
  switch (op.kind) {
    case OpKind::constant: {
      const ir::Attribute value = op.constant;
      auto tile = value != nullptr ? constant(value, type, box) : std::nullopt;
      if (!tile) return cannot(program, id, "holds " + type->text + ", or a list of elements");
      return *std::move(tile);
    }
    case OpKind::poison:
      return poison(shape_of(box), is_number(scalar_of(type)));
    case OpKind::range:
      if (box.size() != 1) return cannot(program, id, "has results that do not fit");
      return range(op.start, box);
    case OpKind::splat:
      return splat(*operands[0], box);
    case OpKind::unsplat:
      return splat(*operands[0], {});
    case OpKind::broadcast:
      return broadcast(*operands[0], box);
    case OpKind::transpose:
    case OpKind::buffer_transpose:
      return transposed(op, *operands[0], box);
    case OpKind::expand_dims:
    case OpKind::reshape:
    case OpKind::buffer_reshape:
      return reshaped(shape_of(program, op.operands[0]), type->shape, *operands[0], box);
    case OpKind::reduce:
      return reduced(program, id, operands, result);
    case OpKind::scan:
      return scanned(program, id, operands, box, result);
    case OpKind::join:
      return joined(operands, box);
    case OpKind::split:
      return split(*operands[0], result, box);
    case OpKind::mma:
    case OpKind::wgmma:
      return product(program, id, operands);
    case OpKind::relayout:
    case OpKind::wgmma_wait:
      return *operands[result < operands.size() ? result : 0];
    default:
      return cannot(program, id, "is not known");
  }
}

Result<Tile> converted(const ir::Program& program, ir::OpId op, Tile tile, ir::Type type) {
  if (!conform(tile, scalar_of(type))) return cannot(program, op, "makes " + type->text);
  return tile;
}

tl::unexpected<Diagnostic> cannot(const ir::Program& program, ir::OpId op, const std::string& why) {
  return fail(ir::text_location(program, op), "cannot be executed: " + program.op(op).name + " " +
                                                  why + ir::source_words(program, op));
}

}  // namespace twill::execute
