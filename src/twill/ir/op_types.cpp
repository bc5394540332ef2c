#include "twill/ir/op_types.h"

#include <algorithm>
#include <iterator>

namespace twill::ir {

Type scalar_of(Type type) {
  const bool is_tile = type->kind == TypeKind::tensor || type->kind == TypeKind::memdesc;
  return is_tile && type->element != nullptr ? type->element : type;
}

bool is_whole(Type scalar) {
  return scalar->kind == TypeKind::integer || scalar->kind == TypeKind::index;
}

bool is_floating(Type scalar) { return scalar->kind == TypeKind::floating; }

Shape without_ones(const Shape& shape) {
  Shape kept;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(kept),
               [](std::int64_t extent) { return extent != 1; });
  return kept;
}

std::string words_of(const Shape& shape) {
  if (shape.empty()) return "a scalar";
  std::string words;
  for (const std::int64_t extent : shape) {
    words += (words.empty() ? "" : "x") + std::to_string(extent);
  }
  return words;
}

std::string count_of(std::size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

MaybeMisfit OpTypes::wrong(ValueId value, const std::string& wanted) const {
  return Misfit{in_quotes() + ": %" + program_.value(value).name + " has type " +
                    type(value)->text + ", but " + wanted,
                value};
}

MaybeMisfit OpTypes::counts(std::size_t operands, std::size_t results) const {
  if (op_.operands.size() == operands && op_.results.size() == results) return {};
  return bad(" takes " + count_of(operands, "operand") + " and makes " +
             count_of(results, "result"));
}

MaybeMisfit OpTypes::shape(ValueId value, const Shape& wanted) const {
  if (type(value)->shape == wanted) return {};
  return wrong(value, words_of(wanted) + " is wanted");
}

MaybeMisfit OpTypes::element(ValueId value, Type wanted) const {
  if (same_element(scalar_of(type(value)), wanted)) return {};
  return wrong(value, "elements of " + wanted->text + " are wanted");
}

MaybeMisfit OpTypes::alike(ValueId value, Type like) const {
  if (const auto wrong_shape = shape(value, like->shape)) return wrong_shape;
  return element(value, scalar_of(like));
}

MaybeMisfit OpTypes::laid_out(ValueId value, Type like) const {
  if (const auto wrong_shape = shape(value, like->shape)) return wrong_shape;
  if (type(value)->encoding == like->encoding) return {};
  return wrong(value, "the layout of " + like->text + " is wanted");
}

MaybeMisfit OpTypes::same(ValueId value, Type wanted) const {
  const Type it = type(value);
  if (it == wanted || !is_known(it) || !is_known(wanted)) return {};
  const bool signs_alone = it->kind == wanted->kind && it->shape == wanted->shape &&
                           it->encoding == wanted->encoding && is_whole(scalar_of(it)) &&
                           same_element(scalar_of(it), scalar_of(wanted));
  if (signs_alone && it->kind != TypeKind::memdesc) return {};
  return wrong(value, wanted->text + " is wanted");
}

}  // namespace twill::ir
