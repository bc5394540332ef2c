#include <algorithm>
#include <numeric>

#include "twill/ir/encoding.h"
#include "twill/ir/op_types.h"

/// Types of ops that reshape, join or reduce tiles.
namespace twill::ir {
namespace {

MaybeMisfit splat(const OpTypes& types) {
  if (auto wrong = types.counts(1)) return wrong;
  const Type wanted = scalar_of(types.result());
  const Type from = types.operand(0);
  if (from->shape.empty() && same_element(from, wanted)) return {};
  return types.wrong(types.op().operands[0], wanted->text + " is wanted");
}

MaybeMisfit unsplat(const OpTypes& types) {
  if (auto wrong = types.counts(1)) return wrong;
  if (element_count(types.operand(0)) != 1) {
    return types.wrong(types.op().operands[0], "a tile of one element is wanted");
  }
  return types.same(types.op().results[0], scalar_of(types.operand(0)));
}

MaybeMisfit expand_dims(const OpTypes& types) {
  if (auto wrong = types.counts(1)) return wrong;
  const auto& axis = types.op().axis;
  Shape wanted = types.operand(0)->shape;
  if (!axis || *axis < 0 || static_cast<std::size_t>(*axis) > wanted.size()) {
    return types.bad(" needs an 'axis' from 0 to " + std::to_string(wanted.size()));
  }
  wanted.insert(wanted.begin() + *axis, 1);
  if (auto wrong = types.shape(types.op().results[0], wanted)) return wrong;
  return types.element(types.op().results[0], scalar_of(types.operand(0)));
}

MaybeMisfit broadcast(const OpTypes& types) {
  if (auto wrong = types.counts(1)) return wrong;
  const Shape& from = types.operand(0)->shape;
  const Shape& to = types.result()->shape;
  bool fits = from.size() == to.size();
  for (std::size_t d = 0; fits && d < to.size(); ++d) fits = from[d] == 1 || from[d] == to[d];
  if (!fits) {
    return types.wrong(types.op().operands[0], "only extents of 1 can become " + words_of(to));
  }
  return types.element(types.op().results[0], scalar_of(types.operand(0)));
}

/// Checks a view of shared memory. A view moves no data, so the swizzle stays and a transposition
/// flips `transposed`.
bool is_turned(Attribute from, Attribute to, const Shape& order) {
  const auto before = nvmma_shared_encoding(from), after = nvmma_shared_encoding(to);
  if (!before || !after) return true;
  const std::size_t rank = order.size();
  const bool turns = rank >= 2 && order[rank - 1] != static_cast<std::int64_t>(rank) - 1;
  return before->swizzle_bytes == after->swizzle_bytes &&
         (before->transposed != after->transposed) == turns;
}

MaybeMisfit transposition(const OpTypes& types) {
  if (auto wrong = types.counts(1)) return wrong;
  const Shape& from = types.operand(0)->shape;
  auto order = types.op().order;
  if (!order && from.size() == 2) order = {1, 0};  // older Tritons
  if (!order || order->size() != from.size()) {
    return types.bad(" needs an 'order' of " + count_of(from.size(), "dimension"));
  }
  Shape dimensions(from.size());
  std::iota(dimensions.begin(), dimensions.end(), 0);
  if (!std::is_permutation(order->begin(), order->end(), dimensions.begin())) {
    return types.bad(": 'order' names a dimension twice, or one there is not");
  }
  Shape wanted;
  for (const std::int64_t d : *order) wanted.push_back(from[static_cast<std::size_t>(d)]);
  if (auto wrong = types.shape(types.op().results[0], wanted)) return wrong;
  if (!is_turned(types.operand(0)->encoding, types.result()->encoding, *order)) {
    return types.wrong(types.op().results[0],
                       "the operand's swizzle is wanted, 'transposed' where 'order' turns it");
  }
  return types.element(types.op().results[0], scalar_of(types.operand(0)));
}

MaybeMisfit reshape(const OpTypes& types) {
  if (auto wrong = types.counts(1)) return wrong;
  if (element_count(types.operand(0)) != element_count(types.result())) {
    return types.wrong(
        types.op().results[0],
        "as many elements as " + words_of(types.operand(0)->shape) + " has are wanted");
  }
  return types.element(types.op().results[0], scalar_of(types.operand(0)));
}

/// Checks that results have the types of the operands: the op only renames.
MaybeMisfit renamed(const OpTypes& types) {
  const Op& op = types.op();
  if (op.results.size() > op.operands.size()) return types.counts(op.results.size());
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    if (auto wrong = types.alike(op.results[i], types.operand(i))) return wrong;
  }
  return {};
}

MaybeMisfit indexed(const OpTypes& types) {
  const Op& op = types.op();
  if (op.operands.empty() || op.results.size() != 1) return {};
  Shape wanted = types.operand(0)->shape;
  if (wanted.empty()) return types.wrong(op.operands[0], "a buffer of several tiles is wanted");
  wanted.erase(wanted.begin());
  if (auto wrong = types.shape(op.results[0], wanted)) return wrong;
  return types.element(op.results[0], scalar_of(types.operand(0)));
}

/// Checks that the result, a part of the operand, has the operand's element type.
MaybeMisfit sliced(const OpTypes& types) {
  const Op& op = types.op();
  if (op.operands.empty() || op.results.size() != 1) return types.counts(1);
  return types.element(op.results[0], scalar_of(types.operand(0)));
}

MaybeMisfit joined(const OpTypes& types, Type both, const std::vector<ValueId>& parts) {
  Shape wanted = both->shape;
  if (wanted.empty() || wanted.back() != 2) {
    return types.bad(": the last extent of " + both->text + " is not 2");
  }
  wanted.pop_back();
  for (const ValueId part : parts) {
    if (auto wrong = types.shape(part, wanted)) return wrong;
    if (auto wrong = types.element(part, scalar_of(both))) return wrong;
  }
  return {};
}

/// Checks one source of a reduction, its result, and the block arguments for its elements.
MaybeMisfit reduced_source(const OpTypes& types, const Reduction& found, std::size_t i,
                           const Shape& wanted) {
  const Op& op = types.op();
  const auto& arguments = types.program().block(found.combine).arguments;
  const Type scalar = scalar_of(types.operand(i));
  if (auto wrong = types.shape(op.operands[i], types.operand(0)->shape)) return wrong;
  if (auto wrong = types.shape(op.results[i], wanted)) return wrong;
  if (auto wrong = types.element(op.results[i], scalar)) return wrong;
  for (std::size_t a = i; a < arguments.size(); a += op.operands.size()) {
    if (auto wrong = types.same(arguments[a], scalar)) return wrong;
  }
  const auto end = terminator(types.program(), found.combine);
  const auto& returned = types.program().op(*end).operands;
  return i < returned.size() ? types.same(returned[i], scalar) : MaybeMisfit();
}

MaybeMisfit reduced(const OpTypes& types) {
  const Op& op = types.op();
  const auto found = reduction(types.program(), types.id());
  if (!found || op.operands.empty() || op.results.size() != op.operands.size() ||
      !terminator(types.program(), found->combine)) {
    return types.bad(" needs an 'axis', and a result for each operand");
  }
  const std::size_t arguments = types.program().block(found->combine).arguments.size();
  const auto end = terminator(types.program(), found->combine);
  if (arguments != 2 * op.operands.size() ||
      types.program().op(*end).operands.size() != op.operands.size()) {
    return types.bad(" combines two elements of each operand to one");
  }
  Shape wanted = types.operand(0)->shape;
  const auto axis = static_cast<std::size_t>(found->axis);
  if (axis >= wanted.size()) {
    return types.wrong(op.operands[0], "it has no axis " + std::to_string(axis));
  }
  if (!found->is_scan) wanted.erase(wanted.begin() + found->axis);
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    if (auto wrong = reduced_source(types, *found, i, wanted)) return wrong;
  }
  return {};
}

/// Checks that all tiles of a view are in memory, or all in registers. The op's name may decide
/// which of the two. Older Tritons have one transposition for both.
MaybeMisfit in_one_place(const OpTypes& types) {
  const Op& op = types.op();
  const bool memory = op.kind == OpKind::buffer_transpose || op.kind == OpKind::buffer_reshape;
  if (op.operands.empty() || op.results.empty()) return {};
  const TypeKind kind = memory                        ? TypeKind::memdesc
                        : op.kind == OpKind::relayout ? TypeKind::tensor
                                                      : types.operand(0)->kind;
  for (const ValueId value : {op.operands[0], op.results[0]}) {
    const TypeKind found = types.type(value)->kind;
    if (found == kind || (found != TypeKind::tensor && found != TypeKind::memdesc)) continue;
    return types.wrong(value, kind == TypeKind::memdesc ? "a tile in memory is wanted"
                                                        : "a tile in registers is wanted");
  }
  return {};
}

/// Checks for an integer result and no operands.
MaybeMisfit integer_of_nothing(const OpTypes& types) {
  if (auto wrong = types.counts(0)) return wrong;
  if (is_whole(scalar_of(types.result()))) return {};
  return types.wrong(types.op().results[0], "integers are wanted");
}

/// Checks that operands and result have one shape; their element types are free.
MaybeMisfit called(const OpTypes& types) {
  const Op& op = types.op();
  if (op.results.size() != 1) return {};
  for (const ValueId operand : op.operands) {
    if (types.type(operand)->shape.empty()) continue;
    if (auto wrong = types.shape(operand, types.result()->shape)) return wrong;
  }
  return {};
}

}  // namespace

MaybeMisfit view_misfit(const OpTypes& types) {
  switch (types.op().kind) {
    case OpKind::splat:
      return splat(types);
    case OpKind::unsplat:
      return unsplat(types);
    case OpKind::range:
    case OpKind::program_id:
    case OpKind::program_count:
      return integer_of_nothing(types);
    case OpKind::expand_dims:
      return expand_dims(types);
    case OpKind::broadcast:
      return broadcast(types);
    case OpKind::transpose:
    case OpKind::buffer_transpose:
      if (auto wrong = in_one_place(types)) return wrong;
      return transposition(types);
    case OpKind::reshape:
    case OpKind::buffer_reshape:
      if (auto wrong = in_one_place(types)) return wrong;
      return reshape(types);
    case OpKind::relayout:
      if (auto wrong = in_one_place(types)) return wrong;
      return renamed(types);
    case OpKind::wgmma_wait:
      return renamed(types);
    case OpKind::buffer_index:
      return indexed(types);
    case OpKind::buffer_slice:
    case OpKind::tensor_slice:
      return sliced(types);
    case OpKind::join:
      if (auto wrong = types.counts(2)) return wrong;
      return joined(types, types.result(), types.op().operands);
    case OpKind::split:
      if (auto wrong = types.counts(1, 2)) return wrong;
      return joined(types, types.operand(0), types.op().results);
    case OpKind::reduce:
    case OpKind::scan:
      return reduced(types);
    case OpKind::library_call:
      return called(types);
    default:
      return {};
  }
}

}  // namespace twill::ir
